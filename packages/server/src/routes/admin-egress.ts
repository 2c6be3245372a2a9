import type { EgressEntry, EgressLog } from '@dragoman/core';
import { failure, type JsonObject } from '@dragoman/protocols';
import type { Route } from '../http/route.ts';
import { textParameter } from './route-parameters.ts';

/** Outbound requests through the gate, including refused ones. */
export function adminEgressRoute(egress: EgressLog): Route {
  return {
    method: 'GET',
    path: '/admin/v1/egress',
    access: 'admin',
    counts: false,
    summary: 'The last 500 outbound requests, latest first: caller, host and outcome; refused: blocked by the gate.',
    parameters: [textParameter('outcome', 'Only requests with this outcome.', OUTCOMES)],
    handle: ({ query }) => {
      const wanted = query.get('outcome');
      if (wanted !== null && !OUTCOMES.some((one) => one === wanted)) {
        const message = `outcome must be one of ${OUTCOMES.join(', ')}; got ${JSON.stringify(wanted.slice(0, 40))}`;
        return failure('invalid_message', { issues: [{ pointer: '/outcome', code: 'enum', message }] }, message);
      }
      const entries = egress.latest.filter(({ outcome }) => wanted === null || outcome === wanted);
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: { entries: entries.map(entryJson) } };
    },
  };
}

function entryJson({ at, milliseconds, ...entry }: EgressEntry): JsonObject {
  return { at: new Date(at).toISOString(), ...entry, duration_ms: Math.round(milliseconds) };
}

const OUTCOMES: readonly EgressEntry['outcome'][] = ['answered', 'failed', 'refused'];
