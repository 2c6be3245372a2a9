import {
  type Allowed,
  DATA_LIMITS,
  type E2AEnvelope,
  encodeEnvelope,
  type Json,
  parseJson,
  type ReceivedInput,
  redacted,
} from '@dragoman/protocols';
import { SERVER } from '../layers/journal.ts';
import { type Arrival, readArrival } from '../runs/arrival.ts';
import { recordedEnvelope } from '../runs/envelope-record.ts';
import { frameFrom } from '../runs/frame-text.ts';
import { isAnonymousOwner } from '../store/anonymous.ts';
import type { ArrivedRow, ShownDelivery, Store } from '../store/store.ts';
import type { Explained } from './explain-context.ts';
import { wayIn } from './way-in.ts';
import { wayOut } from './way-out.ts';

/** A request to an agent, or to the server itself, from its record. */
export async function explainRequest(row: ArrivedRow, store: Store): Promise<Explained> {
  const envelope = recordedEnvelope(row.envelope);
  const arrival = row.arrival === null ? UNKNOWN : readArrival(row.arrival, encodeEnvelope(envelope));
  const { frames, leftOut } = await framesOf(row, store);
  const exchange = { owner: row.owner, requestId: row.requestId, acceptedAt: row.acceptedAt, envelope };
  return {
    request_id: row.requestId,
    kind: 'request',
    agent_id: row.owner,
    accepted_at: new Date(row.acceptedAt).toISOString(),
    state: row.state,
    received: received(arrival),
    envelope: redacted(encodeEnvelope(envelope)),
    allowed: allowed(row, arrival, envelope),
    way_in: wayIn(arrival, envelope, new Date(row.acceptedAt)),
    answers: await wayOut(arrival.dialect, frames, exchange),
    answers_left_out: leftOut,
    outcome: null,
    callbacks: (await store.outbox.answering(row)).map(callback),
  };
}

function received({ dialect, size, text }: Arrival): ReceivedInput {
  const note = text !== null ? {} : { note: dialect === null ? NOT_KEPT : TOO_LARGE };
  return { dialect: dialect ?? 'none', bytes: size, text: text === null ? null : shown(text), ...note };
}

/** The text as received. If it has something that looks like a secret: the same JSON without the secret. */
function shown(text: string): string {
  const json = parseJson(text, DATA_LIMITS);
  if (!json.ok) return text;
  const safe = JSON.stringify(redacted(json.value));
  return safe === JSON.stringify(json.value) ? text : safe;
}

function allowed(row: ArrivedRow, { keyId, isSigned, rules }: Arrival, envelope: E2AEnvelope): Allowed[] {
  const by = { who: row.owner, known_by: knownBy(row.owner, keyId, isSigned) };
  if (row.agentId === SERVER) {
    return [{ ...by, what: `the server's own ${envelope.method}`, rule: 'allowed for every caller with a key' }];
  }
  return rules.map((rule) => {
    const [list = '', entry = ''] = rule.split(/:(.*)/s);
    const what = list === 'agents' ? `to ask agent ${row.agentId}` : 'to speak in another name';
    return { ...by, what, rule: `permissions.${list} has ${JSON.stringify(entry)}` };
  });
}

function knownBy(owner: string, keyId: string | null, isSigned: boolean): string {
  if (keyId !== null) return `key ${keyId}`;
  if (isAnonymousOwner(owner)) return 'nothing: mailbox.anonymous lists the agent';
  return isSigned ? 'its signature' : 'not recorded';
}

/** The frames to show: the first ones, and the final frame. */
async function framesOf(row: ArrivedRow, { requests }: Store) {
  const frames = [];
  let [count, after] = [0, -1];
  for (;;) {
    const page = await requests.frames(row, { after, limit: 1000, maxBytes: 1 << 20 });
    const last = page.at(-1);
    if (last === undefined) return { frames, leftOut: count - frames.length };
    for (const { text, isFinal } of page) {
      count += 1;
      if (count <= MOST_SHOWN || isFinal) frames.push(frameFrom(text));
    }
    after = last.sequence;
  }
}

function callback({ id, url, state, attempts, failures, body, endedAt }: ShownDelivery): Json {
  return {
    id,
    url,
    state,
    attempts,
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
    failures: failures.map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest })),
    // `null` for a damaged body, which `failures` reports.
    body: body === null ? null : (JSON.parse(body) as Json),
  };
}

const UNKNOWN: Arrival = { keyId: null, isSigned: false, rules: [], dialect: null, size: 0, text: null };
const NOT_KEPT = 'the server made this request itself, or an older version of it recorded it';
const TOO_LARGE = 'larger than what is kept';
const MOST_SHOWN = 100;
