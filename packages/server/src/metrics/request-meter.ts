import type { Metric, Sample } from './metric.ts';

/** The counted properties of an HTTP request. */
export interface SeenRequest {
  readonly method: string;
  /** The pattern of the route, never the path; `undefined` when none matched. */
  readonly route: string | undefined;
  /** `undefined` if the peer disconnected before the answer. */
  readonly status: number | undefined;
  readonly milliseconds: number;
}

/** A counted request, with fields that only the access log gets. */
export interface AccessedRequest extends SeenRequest {
  /** Without its query, which may contain a secret. */
  readonly path: string;
  /** The proven caller, if any. */
  readonly caller: string | undefined;
}

/** Counts requests by route, method and status class, and measures their duration. */
export class RequestMeter {
  readonly #tallies = new Map<string, Tally>();

  observe({ method, route = NO_ROUTE, status, milliseconds }: SeenRequest): void {
    const tally = this.#tally(METHODS.has(method) ? method : 'other', route);
    const kind = status === undefined ? BROKEN_OFF : `${Math.floor(status / 100)}xx`;
    tally.statuses.set(kind, (tally.statuses.get(kind) ?? 0) + 1);
    tally.count++;
    tally.seconds += milliseconds / 1000;
    const bucket = BOUNDS.findIndex((bound) => milliseconds <= bound * 1000);
    if (bucket !== -1) tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1;
  }

  metrics(): Metric[] {
    const tallies = [...this.#tallies.values()];
    return [
      {
        name: 'dragoman_http_requests_total',
        help: 'HTTP requests by route, method and kind of status.',
        type: 'counter',
        samples: tallies.flatMap(({ labels, statuses }) =>
          [...statuses].map(([status, value]) => ({ labels: { ...labels, status }, value })),
        ),
      },
      {
        name: 'dragoman_http_request_duration_seconds',
        help: 'From the arrival of a request to the end of its answer; a stream is as long as it was open.',
        type: 'histogram',
        samples: tallies.flatMap(durations),
      },
    ];
  }

  /**
   * The routes with the most requests: their number, the number that failed with a server error, and their duration.
   */
  busiest(most: number): RouteFigures[] {
    return [...this.#tallies.values()]
      .sort((one, other) => other.count - one.count)
      .slice(0, most)
      .map(({ labels: { method = '', route = '' }, statuses, buckets, count }) => ({
        method,
        route,
        count,
        errors: statuses.get('5xx') ?? 0,
        p50_ms: quantile(buckets, count, 0.5),
        p95_ms: quantile(buckets, count, 0.95),
      }));
  }

  #tally(method: string, route: string): Tally {
    const key = `${method} ${route}`;
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      const buckets = new Array<number>(BOUNDS.length).fill(0);
      tally = { labels: { method, route }, statuses: new Map(), buckets, count: 0, seconds: 0 };
      this.#tallies.set(key, tally);
    }
    return tally;
  }
}

/** The statistics of a route since the start. A `type`, not an `interface`, because it is sent as JSON. */
export type RouteFigures = {
  readonly method: string;
  readonly route: string;
  readonly count: number;
  readonly errors: number;
  /** The upper bound of the bucket that has the quantile; null above the highest bound. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
};

/** The upper bound of the bucket within which this share of the requests was finished. */
function quantile(buckets: readonly number[], count: number, part: number): number | null {
  let total = 0;
  for (const [at, bucket] of buckets.entries()) {
    total += bucket;
    if (total >= count * part) return (BOUNDS[at] ?? 0) * 1000;
  }
  return null;
}

interface Tally {
  readonly labels: Readonly<Record<string, string>>;
  readonly statuses: Map<string, number>;
  /** How many requests were within each bound, but not within the one before. */
  readonly buckets: number[];
  count: number;
  seconds: number;
}

/** A Prometheus bucket counts everything up to its bound. */
function durations({ labels, buckets, count, seconds }: Tally): Sample[] {
  let total = 0;
  const upTo = BOUNDS.map((bound, at) => {
    total += buckets[at] ?? 0;
    return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: total };
  });
  return [
    ...upTo,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: seconds },
    { suffix: '_count', labels, value: count },
  ];
}

/** In seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
/** Other methods are counted together, because a peer can send any method. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);
const NO_ROUTE = 'none';
const BROKEN_OFF = 'none';
