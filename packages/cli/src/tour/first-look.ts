import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectWire, httpWire } from '@dragoman/client/wire';
import { isObject, valueAt } from '@dragoman/protocols';
import { WORKFLOWS } from '../demo/demo.ts';
import { withFreshId } from '../workflow/fresh-id.ts';
import { askSigned } from './signed-request.ts';
import { inviteGuest, type Stage } from './stage.ts';

/** The result of one step. */
export interface Shown {
  readonly name: string;
  readonly ok: boolean;
  /** What was shown, or why it failed. */
  readonly text: string;
  readonly ms: number;
}

/** Shows what a server does. Every step sends a real request, and its result is yielded at once. */
export async function* firstLook(stage: Stage): AsyncGenerator<Shown> {
  for (const [name, show] of Object.entries(SHOWS)) {
    if (stage.signal.aborted) return;
    const startedAt = performance.now();
    const done = (ok: boolean, text: string): Shown => ({
      name,
      ok,
      text,
      ms: Math.round(performance.now() - startedAt),
    });
    try {
      yield done(true, await show(stage));
    } catch (error) {
      const { aborted, reason } = stage.signal;
      // After a stop, nothing more is shown. After a timeout, the result names it.
      if (aborted && !isTimeout(reason)) return;
      yield done(false, aborted ? 'it took too long' : error instanceof Error ? error.message : String(error));
    }
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** The steps, in this order. A new one is a line here. */
const SHOWS = { agent, workflow, tool, message, callback } satisfies Record<string, (stage: Stage) => Promise<string>>;

async function agent({ client, signal }: Stage): Promise<string> {
  const chunks: string[] = [];
  const answer = client.send('Hello from your first agent', { agent: 'echo', signal });
  for await (const { response_kind, body } of answer)
    if (response_kind === 'e2a.chunk') chunks.push(String(body['delta']));
  const text = await answer.text();
  if (chunks.join('') !== text || chunks.length < 2) throw new Error(`echo streamed ${JSON.stringify(chunks)}`);
  return `echo streamed ${chunks.length} chunks: ${chunks.map((word) => JSON.stringify(word)).join(' ')}`;
}

async function workflow({ client, data, signal }: Stage): Promise<string> {
  const lines = withFreshId(readFileSync(join(data, WORKFLOWS, 'active-users.jsonl'), 'utf8'));
  const { results, status } = await client.workflows.execute(lines, { signal });
  const users = results['sort-by-points'];
  if (!Array.isArray(users)) throw new Error(`the workflow ended as ${status}`);
  const names = users.map((user) => (isObject(user) ? String(user['name']) : '?'));
  return `active-users called an API, filtered and sorted: ${names.join(', ')}`;
}

async function tool({ url, key, signal }: Stage): Promise<string> {
  await using wire = await connectWire({ transport: httpWire({ url, key }), key });
  const text = 'four words it has';
  const { data } = await wire.call('word_count', { text }, { signal });
  if (valueAt(data, '/words') !== 4) throw new Error(`word_count gave ${JSON.stringify(data)}`);
  return `word_count over the wire: ${JSON.stringify(text)} → ${JSON.stringify(data)}`;
}

async function message(stage: Stage): Promise<string> {
  const { answer, isAnswerSigned } = await askSigned(stage, await inviteGuest(stage), {
    agent: 'echo',
    content: 'signed',
  });
  if (valueAt(answer, '/payload/status') !== 'success')
    throw new Error(`the answer was ${JSON.stringify(answer['payload'])}`);
  if (!isAnswerSigned) throw new Error('the signature of the answer is invalid');
  return 'a signed A2A request was verified, and so was the signature of its answer';
}

async function callback({ client, callbacks, signal }: Stage): Promise<string> {
  const from = { name: 'Demo', callbackUrl: callbacks.url };
  const metadata = { messageId: `look_${randomUUID()}` };
  await client.mailbox.send({ from, to: { name: 'echo' }, message: 'call me back', metadata }, { signal });
  const { answer } = await callbacks.answering(metadata.messageId, signal);
  const { content } = answer.message;
  return `the signed answer arrived at ${callbacks.url}: ${JSON.stringify(valueAt(content, '/text') ?? content)}`;
}
