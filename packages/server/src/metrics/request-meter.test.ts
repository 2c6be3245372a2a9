import { expect, test } from 'vitest';
import type { Metric } from './metric.ts';
import { RequestMeter } from './request-meter.ts';

const seen = { method: 'GET', route: '/things/:id', status: 200, milliseconds: 3 };

test('requests are counted by route, method and kind of status', () => {
  const meter = new RequestMeter();
  meter.observe(seen);
  meter.observe({ ...seen, status: 204 });
  meter.observe({ ...seen, status: 404 });
  meter.observe({ ...seen, status: undefined });
  const labels = { method: 'GET', route: '/things/:id' };
  expect(samples(meter, 'dragoman_http_requests_total')).toEqual([
    { labels: { ...labels, status: '2xx' }, value: 2 },
    { labels: { ...labels, status: '4xx' }, value: 1 },
    { labels: { ...labels, status: 'none' }, value: 1 },
  ]);
});

test('a duration is in every bucket whose bound it does not pass', () => {
  const meter = new RequestMeter();
  for (const milliseconds of [0.5, 5, 5.1, 90_000]) meter.observe({ ...seen, milliseconds });
  const duration = samples(meter, 'dragoman_http_request_duration_seconds');
  const upTo = (le: string) => duration.find(({ labels }) => labels?.['le'] === le)?.value;
  expect([upTo('0.001'), upTo('0.0025'), upTo('0.005'), upTo('0.01'), upTo('60'), upTo('+Inf')]).toEqual([
    1, 1, 2, 3, 3, 4,
  ]);
  expect(duration.find(({ suffix }) => suffix === '_sum')?.value).toBeCloseTo(90.0106, 6);
  expect(duration.find(({ suffix }) => suffix === '_count')?.value).toBe(4);
});

test('the busiest routes come first, with how long most of their requests took', () => {
  const meter = new RequestMeter();
  for (let number = 0; number < 20; number++) meter.observe({ ...seen, milliseconds: number === 0 ? 300 : 3 });
  meter.observe({ ...seen, route: '/other', status: 503, milliseconds: 90_000 });
  expect(meter.busiest(2)).toEqual([
    { method: 'GET', route: '/things/:id', count: 20, errors: 0, p50_ms: 5, p95_ms: 5 },
    { method: 'GET', route: '/other', count: 1, errors: 1, p50_ms: null, p95_ms: null },
  ]);
});

test('unknown paths and methods add no labels', () => {
  const meter = new RequestMeter();
  for (let number = 0; number < 10_000; number++) {
    meter.observe({ method: `M${number}`, route: undefined, status: 404, milliseconds: 1 });
  }
  expect(samples(meter, 'dragoman_http_requests_total')).toEqual([
    { labels: { method: 'other', route: 'none', status: '4xx' }, value: 10_000 },
  ]);
});

function samples(meter: RequestMeter, name: string): Metric['samples'] {
  return meter.metrics().find((metric) => metric.name === name)?.samples ?? [];
}
