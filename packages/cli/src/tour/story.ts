import { randomUUID } from 'node:crypto';
import {
  type E2AResponse,
  encodeEnvelope,
  envelopeFromAcpJsonrpc,
  isObject,
  type Json,
  type JsonObject,
  valueAt,
} from '@dragoman/protocols';
import { membersWithContent } from '../members-with-content.ts';
import type { Narrator } from './narrator.ts';
import { askSigned } from './signed-request.ts';
import { inviteGuest, type Stage } from './stage.ts';

/** One story through all five protocols. A chapter that fails does not stop the next ones. */
export async function runStory(stage: Stage, narrator: Narrator): Promise<void> {
  const guide = new Guide();
  for (const [title, play] of CHAPTERS) {
    if (stage.signal.aborted) return narrator.holds('the tour ended in time', false);
    narrator.chapter(title);
    try {
      await play(stage, narrator, guide);
    } catch (error) {
      narrator.holds(error instanceof Error ? error.message : String(error), false);
    }
  }
}

/** The results of the agent of the story over each protocol, and the ids that it uses. */
class Guide {
  readonly letterId = `tour-letter-${randomUUID()}`;
  readonly #results: JsonObject[] = [];

  /** Adds the final result of a visit, which contains the agent's process and the number of the visit. */
  add(result: Json | undefined, narrator: Narrator): JsonObject {
    const visit = isObject(result) ? result : {};
    const [before] = this.#results.slice(-1);
    narrator.holds('the guide answered', typeof visit['text'] === 'string');
    if (before !== undefined) {
      narrator.holds(
        'the same agent process counted one more visit',
        visit['process'] === before['process'] && Number(visit['visit']) > Number(before['visit']),
      );
    }
    this.#results.push(visit);
    return visit;
  }

  get first(): JsonObject {
    return this.#results[0] ?? {};
  }
}

type Chapter = (stage: Stage, narrator: Narrator, guide: Guide) => Promise<void>;

const CHAPTERS: readonly (readonly [title: string, play: Chapter])[] = [
  ['An editor asks the guide (ACP, through E2A)', editorAsks],
  ['The guide at work: a tool over the A2E wire, an A2E workflow', guideWorks],
  ['A message reaches the same agent (A2A mailbox)', mailboxMessage],
  ['Another agent asks it, signed (A2A messages)', agentAsks],
  ['The client drops, and resumes (E2A)', clientResumes],
  ['What happened to the message? (explain)', operatorAsks],
];

async function editorAsks({ client, signal }: Stage, narrator: Narrator, guide: Guide): Promise<void> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'session/prompt',
    params: { sessionId: 'tour', prompt: [{ type: 'text', text: 'What does this server do?' }] },
  };
  narrator.shows('sent', call);
  const { method, params, id } = call;
  const envelope = { ...envelopeFromAcpJsonrpc({ method, params, jsonrpc_id: id }), is_stream: true };
  narrator.shows('became', membersWithContent(encodeEnvelope(envelope)));
  const frames: E2AResponse[] = [];
  for await (const frame of client.send(envelope, { agent: 'guide', signal })) frames.push(frame);
  const messages = frames.map(({ projections }) => projections['acp']);
  for (const message of messages) if (isObject(message)) narrator.shows('received', message);
  const updates = messages.filter((message) => valueAt(message, '/method') === 'session/update');
  narrator.holds('every part arrived as a session/update', updates.length === frames.length - 1 && updates.length >= 4);
  narrator.holds(
    'the prompt ended with end_turn under its own id',
    valueAt(messages.at(-1), '/result/stopReason') === 'end_turn' && valueAt(messages.at(-1), '/id') === 1,
  );
  guide.add(valueAt(frames.at(-1)?.body, '/result'), narrator);
}

async function guideWorks({ admin }: Stage, narrator: Narrator, { first }: Guide): Promise<void> {
  narrator.holds('the words were counted by a tool', first['words'] === 5);
  const { requests } = admin.admin;
  const line = await requests.explain(String(first['line_id']));
  narrator.shows('tool', line.outcome);
  narrator.holds(
    'the call is on record as a line of the wire',
    line.kind === 'wire' && valueAt(line.outcome, '/name') === 'word_count' && line.state === 'succeeded',
  );
  const { kind, received, allowed, outcome } = await requests.explain(String(first['execution_id']));
  narrator.shows('workflow', received.text ?? '');
  for (const { what, rule } of allowed) narrator.shows('allowed', `${what}: ${rule}`);
  narrator.shows('received', valueAt(outcome, '/result/results/sort-by-points') ?? null);
  narrator.holds(
    'the workflow is on record as an execution',
    kind === 'execution' && valueAt(outcome, '/result/status') === 'success',
  );
  narrator.holds('Ada has most points', valueAt(outcome, '/result/results/sort-by-points/0/name') === 'Ada');
}

async function mailboxMessage(
  { client, admin, callbacks, signal }: Stage,
  narrator: Narrator,
  guide: Guide,
): Promise<void> {
  const message = {
    from: { name: 'Ada', callbackUrl: callbacks.url },
    to: { name: 'Guide' },
    message: 'And what else can it do?',
    metadata: { messageId: guide.letterId, threadId: `thread-of-${guide.letterId}` },
  };
  narrator.shows('sent', message);
  const acknowledged = await client.mailbox.send(message, { signal });
  narrator.shows('received', { status: acknowledged.metadata.status ?? null, replyTo: acknowledged.replyTo });
  narrator.holds('it was acknowledged at once', acknowledged.metadata.status === 'received');
  narrator.shows('became', membersWithContent((await admin.admin.requests.explain(guide.letterId)).envelope));
  const { answer, callback } = await callbacks.answering(guide.letterId, signal);
  narrator.shows('called', { replyTo: answer.replyTo, threadId: answer.threadId, content: answer.message.content });
  narrator.holds(`the answer was called back, signed (${callback.id})`, answer.metadata.status !== 'error');
  guide.add(answer.message.content, narrator);
}

async function agentAsks(stage: Stage, narrator: Narrator, guide: Guide): Promise<void> {
  const guest = await inviteGuest(stage);
  const { sent, answer, isAnswerSigned } = await askSigned(stage, guest, { agent: 'guide', content: 'May I come in?' });
  narrator.shows('sent', sent);
  const { envelope, allowed } = await stage.admin.admin.requests.explain(String(sent['message_id']));
  narrator.shows('became', membersWithContent(envelope));
  for (const { who, known_by, what, rule } of allowed)
    narrator.shows('allowed', `${who}, known by ${known_by}, ${what}: ${rule}`);
  narrator.shows('received', answer);
  narrator.holds('only the signature identified the caller', allowed[0]?.known_by === 'its signature');
  narrator.holds('the answer is signed by the server', isAnswerSigned);
  guide.add(valueAt(answer, '/payload/data'), narrator);
}

async function clientResumes({ client, signal }: Stage, narrator: Narrator): Promise<void> {
  const requestId = `tour-${randomUUID()}`;
  narrator.shows('sent', { request_id: requestId, agent: 'clock', method: 'chat.send' });
  const before: number[] = [];
  for await (const { sequence } of client.send('what time is it?', { agent: 'clock', requestId, signal })) {
    before.push(sequence);
    if (before.length === 2) break;
  }
  narrator.shows('received', `frames ${before.join(', ')}; then the connection was dropped, and the agent continued`);
  const after: E2AResponse[] = [];
  for await (const frame of client.resume(requestId, { after: before.at(-1) ?? -1, signal })) after.push(frame);
  narrator.shows('resumed', `frames ${after.map(({ sequence }) => sequence).join(', ')}`);
  const all = [...before, ...after.map(({ sequence }) => sequence)];
  narrator.holds(
    'no frame is missing and none arrived twice',
    all.length === 6 && all.every((sequence, index) => sequence === index),
  );
  narrator.holds(
    'one frame is final, the last',
    after.filter((frame) => frame.is_final).length === 1 && after.at(-1)?.is_final === true,
  );
}

async function operatorAsks({ admin }: Stage, narrator: Narrator, { letterId }: Guide): Promise<void> {
  const explanation = await admin.admin.requests.explain(letterId);
  narrator.shows('received', explanation.received.text ?? '');
  for (const { who, what, rule } of explanation.allowed) narrator.shows('allowed', `${who} ${what}: ${rule}`);
  for (const { pointer, why } of explanation.way_in.dropped) narrator.shows('dropped', `${pointer} (${why})`);
  for (const { pointer, why } of explanation.way_in.changed) narrator.shows('changed', `${pointer} (${why})`);
  for (const { pointer, value, why } of explanation.way_in.invented)
    narrator.shows('added', `${pointer} ${JSON.stringify(value ?? null)} (${why})`);
  narrator.holds(
    'the message is on record as it was sent',
    valueAt(JSON.parse(explanation.received.text ?? 'null'), '/from/name') === 'Ada',
  );
  narrator.holds('the sender is the owner of the key', valueAt(explanation.envelope, '/source_agent_id') === 'demo');
  narrator.holds(
    'its callback was delivered',
    explanation.callbacks.some((one) => valueAt(one, '/state') === 'delivered'),
  );
}
