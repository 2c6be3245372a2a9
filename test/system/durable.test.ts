import { afterAll, expect, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { fresh, read } from './caller.ts';
import { type Deed, Strace } from './strace.ts';
import { agentModule, System } from './system.ts';

const system = await System.start({
  needsFolder: 'strace watches the log of the database',
  config: {
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      slow: { driver: 'module', module: agentModule('load') },
    },
  },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: KEY } = await system.caller('caller-agent');

test('the disk has the request, and every frame of the answer, before a byte of it is sent', async (context) => {
  const strace = await Strace.attach(system.pid);
  if (typeof strace === 'string') {
    context.skip(`strace cannot look at the server here: ${strace}`);
    return;
  }
  await using _ = strace;
  const single = Array.from({ length: 10 }, () => fresh());
  for (const id of single) await allFrames(await send({ request_id: id }));
  const streamed = fresh();
  const params = { content: 'one two three four', pause_ms: 30 };
  const frames = await allFrames(
    await send({ request_id: streamed, agent_ref: { id: 'slow' }, is_stream: true, params }),
  );
  // The peer may have the last bytes before strace has written down that they were sent; not those before an answer to it.
  await allFrames(await send({ request_id: fresh() }));
  const deeds = await strace.deeds();

  const syncs = deeds.filter(({ kind }) => kind === 'log-sync');
  expect(
    syncs.some(({ thread }) => thread === system.pid),
    'the event loop waits for no disk',
  ).toBe(false);
  for (const id of single) {
    const requested = deeds.findIndex(({ kind, text }) => kind === 'socket-read' && text.includes(id));
    const answered = deeds.findIndex(({ kind, text }) => kind === 'socket-write' && text.includes(id));
    expect([requested !== -1, answered > requested], `${id} is read, then answered`).toEqual([true, true]);
    const between = deeds.slice(requested, answered).filter(({ kind }) => kind.startsWith('log-'));
    expect(between.map(({ kind }) => kind)).toContain('log-sync');
    expect(between.at(-1)?.kind, `nothing of ${id} waits for the disk when it is answered`).toBe('log-sync');
  }
  for (const frame of frames) {
    const sent = deeds.findIndex(
      ({ kind, text }) => kind === 'socket-write' && text.includes(String(read(frame).response_id)),
    );
    expect(sent).not.toBe(-1);
    expect(lastOfLog(deeds.slice(0, sent))).toBe('log-sync');
  }
});

/** The last thing that was done to the store's log. */
function lastOfLog(deeds: readonly Deed[]): string | undefined {
  return deeds.filter(({ kind }) => kind.startsWith('log-')).at(-1)?.kind;
}

function send(envelope: object) {
  const accept = 'is_stream' in envelope ? 'text/event-stream' : 'application/json';
  const json = { method: 'chat.send', params: { content: 'hello' }, ...envelope };
  return call(system.url, { method: 'POST', path: '/e2a', key: KEY, accept, json });
}
