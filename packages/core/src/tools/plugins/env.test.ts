import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import type { Ids } from '../../ports/ports.ts';
import type { Environment } from '../environment.ts';
import type { WireCall } from '../wire/plugin.ts';
import { envPlugin } from './env.ts';

/** A connection to an environment that starts its episodes when the test says so. */
function connection() {
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  let open = 0;
  const reset = async () => {
    await started;
    open += 1;
    const close = () => {
      open -= 1;
    };
    return { state: {}, step: () => ({ state: {} }), close };
  };
  const environment = { name: 'grid', actions: {}, reset } as unknown as Environment;
  const ids = { hex: () => randomBytes(16).toString('hex') } as Ids;
  const plugin = envPlugin({ environments: [environment], clock: new TestClock(), ids });
  const closed = new AbortController();
  const session = { principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS }, closed: closed.signal };
  const call = { session, signal: new AbortController().signal } as unknown as WireCall;
  const message = { type: 'env/reset/req', id: 'x', env_name: 'grid', spec: {}, seed: null, options: {} };
  return {
    ask: async () => plugin.handle(message as never, call),
    start,
    close: () => closed.abort(),
    openEpisodes: () => open,
  };
}

describe('resets at the same time', () => {
  test('do not open more episodes than a connection may have', async () => {
    const { ask, start, openEpisodes } = connection();
    const answers = Array.from({ length: 20 }, ask);
    start();
    const refused = (await Promise.allSettled(answers)).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({ reason: { code: 'reset_denied' } });
    expect(openEpisodes()).toBe(16);
  });

  test('leave no episode open on a connection that closes meanwhile', async () => {
    const { ask, start, close, openEpisodes } = connection();
    const answer = ask();
    close();
    start();
    await expect(answer).rejects.toMatchObject({ code: 'reset_denied' });
    expect(openEpisodes()).toBe(0);
  });
});
