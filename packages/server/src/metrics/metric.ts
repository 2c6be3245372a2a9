/** The current value of one metric, in Prometheus' terms. */
export interface Metric {
  readonly name: string;
  /** One sentence for dashboards. */
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly value: number;
  /** Each label has a fixed set of values: values chosen by callers could fill the memory of the collector. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
}

/** A metric with one value. */
export function single(type: 'counter' | 'gauge', name: string, help: string, value: number): Metric {
  return { name, help, type, samples: [{ value }] };
}
