import type { Metric as PromMetric, Registry } from 'prom-client';
import type { Metric } from './metric.ts';

/**
 * Writes metrics as Prometheus' text format, and adds those of the process (CPU, memory, event loop). The library for
 * both takes 12 MB, so it is loaded with the first scrape and not used for counting.
 */
export class Exposition {
  #registry: Promise<Registry> | undefined;

  async text(metrics: readonly Metric[]): Promise<string> {
    this.#registry ??= newRegistry();
    const registry = await this.#registry;
    for (const metric of metrics) {
      registry.removeSingleMetric(metric.name);
      registry.registerMetric(snapshotOf(metric));
    }
    return registry.metrics();
  }
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

async function newRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry: NewRegistry } = await import('prom-client');
  const registry = new NewRegistry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** A metric for the library, reduced to the members that a registry reads. */
function snapshotOf({ name, help, type, samples }: Metric): PromMetric {
  const values = samples.map(({ value, labels = {}, suffix = '' }) => ({ metricName: name + suffix, labels, value }));
  return { name, get: async () => ({ name, help, type, values }) } as unknown as PromMetric;
}
