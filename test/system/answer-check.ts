import { expect } from 'vitest';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import { allFrames, call } from './call.ts';
import { expectOrdered, read } from './caller.ts';
import { acceptOf, type Owner, type Sent } from './load.ts';
import type { System } from './system.ts';
import { timesCounted } from './workflow-load.ts';

/** The outcome of a request. `unknown`: it was never accepted, and the server says so. */
export type Fate = 'unknown' | 'complete' | 'interrupted';

/** Compares one request with the frames that its client received before the server died; throws on any difference. */
export async function checkAnswer(
  system: System,
  sent: Sent,
  others: readonly Owner[],
  random: () => number,
): Promise<Fate> {
  const { owner, envelope } = sent;
  const path = `/e2a/requests/${envelope.request_id}/responses`;
  const readFrom = (query: string, headers: Record<string, string>) =>
    call(system.url, { path: `${path}${query}`, key: owner.key, headers });

  const answer = await readFrom('?after=-1', { accept: 'application/x-ndjson' });
  if (answer.status === 404) {
    expect(sent.isAcknowledged, `${envelope.request_id} was acknowledged and is gone`).toBe(false);
    await answer.text();
    return 'unknown';
  }
  const frames = await allFrames(answer);
  const what = `${owner.canary} ${envelope.request_id} by ${sent.transport}`;
  const final = read(frames.at(-1));
  // What was no stream has its final frame alone, then and now.
  if (envelope.is_stream) expectOrdered(frames.map(read), what);
  else expect([frames.length, final.is_final], what).toEqual([1, true]);
  const fate = fateOf(final, what);

  // The earlier frames are, byte for byte, the first ones now.
  expect(sent.frames, what).toEqual(frames.slice(0, sent.frames.length));
  if (sent.counted === undefined) expectContent(frames, sent, fate);
  else expectCounted(final, sent, fate);

  // The rest from any point, as an SSE client asks for it.
  const after = Math.floor(random() * (final.sequence + 1));
  const rest = await allFrames(await readFrom('', { accept: 'text/event-stream', 'last-event-id': String(after) }));
  expect(rest, what).toEqual(frames.filter((frame) => read(frame).sequence > after));

  // Sent again, it is the same answer and no second run.
  const again = await call(system.url, {
    method: 'POST',
    path: '/e2a',
    key: owner.key,
    accept: acceptOf(sent.transport),
    json: envelope,
  });
  expect(await allFrames(again), what).toEqual(frames);

  // The others have requests of the same id, or none; never this one.
  for (const other of others) {
    if (other === owner) continue;
    const theirs = await (await call(system.url, { path, key: other.key })).text();
    expect(theirs.includes(owner.canary), `${other.canary} sees ${what}`).toBe(false);
  }
  return fate;
}

function fateOf(final: E2AResponse, what: string): Fate {
  if (final.response_kind === 'e2a.complete') return 'complete';
  expect({ kind: final.response_kind, status: final.status, ...final.body }, what).toMatchObject({
    kind: 'e2a.error',
    status: 'failed',
    code: 'E2A.INTERRUPTED',
    details: { retryable: true },
  });
  return 'interrupted';
}

/** A tool that was called once has counted once; an interrupted one has counted once or not at all. */
function expectCounted(final: E2AResponse, { owner, envelope, counted = '' }: Sent, fate: Fate): void {
  const id = `${owner.canary}-${envelope.request_id}`;
  const times = timesCounted(counted, id);
  expect(times, id).toBeLessThanOrEqual(1);
  if (fate !== 'complete') return;
  expect(times, id).toBe(1);
  expect(final.body['result']).toMatchObject({ counted: id });
}

/** Every received word is in its place; all of them when the answer is complete. */
function expectContent(frames: readonly string[], sent: Sent, fate: Fate): void {
  const bodies = frames.map((text) => read(text).body);
  const words = bodies.flatMap(({ delta }) =>
    typeof delta === 'string' && !delta.startsWith('crash:') ? [delta] : [],
  );
  const sentWords = sent.content.split(' ');
  const isWhole = fate === 'complete' && sent.envelope.is_stream;
  expect(words).toEqual(isWhole ? sentWords : sentWords.slice(0, words.length));
  if (fate === 'complete') expect(bodies.at(-1)?.['result']).toMatchObject({ echoed: sent.content });
}
