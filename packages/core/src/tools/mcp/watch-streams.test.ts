import { setMaxListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { watchStreams } from './watch-streams.ts';

const URL = 'http://127.0.0.1/mcp';

/** The SDK asks through it as it would ask a server, which answers as told. */
function watching(answers: (init: RequestInit) => Promise<Response>) {
  const asked: RequestInit[] = [];
  const fetch = watchStreams(
    (_, init = {}) => {
      asked.push(init);
      return answers(init);
    },
    { clock: new TestClock(), isAwaited: () => true, onOver: () => {}, onLost: () => {} },
  );
  const call = (id: string, signal: AbortSignal) =>
    fetch(URL, { method: 'POST', body: `{"jsonrpc":"2.0","id":"${id}","method":"tools/call"}`, signal });
  return { call, asked };
}

const never = () => new Promise<Response>(() => {});

test('Node does not warn of a leak where many calls are under way, and each ends with the signal of all', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    const all = new AbortController();
    // Where tests run, another number may hold for all signals.
    setMaxListeners(10, all.signal);
    const { call, asked } = watching(never);
    for (let count = 1; count <= 12; count++) void call(`d${count}`, all.signal);
    expect(warn).not.toHaveBeenCalled();
    all.abort(new Error('enough'));
    expect(asked.map(({ signal }) => String(signal?.reason))).toEqual(Array(12).fill('Error: enough'));
  } finally {
    warn.mockRestore();
  }
});
