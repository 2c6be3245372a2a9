// An agent that is a separate program: it reads envelopes from its standard input, one a line, and answers in frames. For
// its work it turns to the server that started it: it calls a tool over the A2E wire, and has a workflow run.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connectWire, httpWire } from '@dragoman/client/wire';

const [data = '.'] = process.argv.slice(2);
let visits = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const envelope = JSON.parse(line);
  if (envelope.method !== 'chat.interrupt') void answer(envelope);
}

async function answer(envelope) {
  let sequence = 0;
  const send = (fields) => write({ request_id: envelope.request_id, sequence: sequence++, ...fields });
  const say = (delta, delta_kind = 'text') => send({ response_kind: 'e2a.chunk', body: { delta_kind, delta } });
  try {
    visits += 1;
    const visit = visits;
    const text = textIn(envelope.params);
    await say(`You say: ${text}\n`);
    const { url, key } = JSON.parse(readFileSync(join(data, 'dev-keys.json'), 'utf8'));
    const { words, lineId } = await countWords(text, { url, key });
    await say({ name: 'word_count', arguments: { text }, result: { words } }, 'tool');
    await say(`That is ${words} words, by a tool over the wire.\n`);
    const { execution_id, users } = await activeUsers({ url, key });
    await say(`Most active: ${users.join(', ')}, by a workflow.\n`);
    const result = {
      text: `${words} words; most active: ${users.join(', ')}`,
      words,
      users,
      line_id: lineId,
      execution_id,
      visit,
      process: process.pid,
    };
    await send({ response_kind: 'e2a.complete', status: 'succeeded', is_final: true, body: { result } });
  } catch (error) {
    const body = { code: 'DEMO.LOST', message: `The guide failed: ${error.message}` };
    await send({ response_kind: 'e2a.error', status: 'failed', is_final: true, body });
  }
}

async function countWords(text, { url, key }) {
  const wire = await connectWire({ transport: httpWire({ url, key }), key, agentId: 'guide' });
  try {
    const { req_id, data } = await wire.request('tool/call/req', { tool_name: 'word_count', arguments: { text } });
    if (!data.success) throw new Error(`word_count did not succeed: ${data.error}`);
    return { words: data.data.words, lineId: req_id };
  } finally {
    await wire.close();
  }
}

async function activeUsers({ url, key }) {
  const lines = readFileSync(join(data, 'workflows', 'active-users.jsonl'), 'utf8');
  // A new id: the same one again would be answered from the record.
  const workflow = lines.replace(
    '"executionId":"active-users"',
    `"executionId":"guide-${process.pid}-${Date.now()}-${visits}"`,
  );
  const response = await fetch(new URL('/api/v1/workflows/execute', url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ workflow }),
  });
  const { status, results, execution_id, error } = await response.json();
  if (status !== 'success') throw new Error(`the workflow ended as ${status ?? error?.type}: ${error?.message}`);
  return { execution_id, users: results['sort-by-points'].map(({ name }) => name) };
}

/** The text of a message in any protocol: an editor sends blocks, a mailbox content, a person text. */
function textIn({ prompt, content, text, query }) {
  const blocks = Array.isArray(prompt) ? prompt.map((block) => block.text ?? '').join('') : undefined;
  return String(blocks ?? content ?? text ?? query ?? '');
}

async function write(frame) {
  if (!process.stdout.write(`${JSON.stringify(frame)}\n`)) await once(process.stdout, 'drain');
}
