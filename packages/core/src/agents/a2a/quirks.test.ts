import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type GivenAnswer, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { cardAt, type ScriptedAnswer, ScriptedPeer } from '../../../test-support/scripted-peer.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import type { AgentPart } from '../agent.ts';
import { TestContext } from '../call.contract.ts';
import { openA2aAgent } from './open-a2a-agent.ts';

/**
 * The behaviour of one remote server, and the answer that readers get. Those in `recordings` are what a real server sent to this
 * driver, byte by byte; those in `fixtures` are written by hand.
 */
interface Quirk {
  readonly peer: string;
  readonly why: string;
  readonly card?: JsonObject;
  readonly answers: Readonly<Record<string, readonly ScriptedAnswer[]>>;
  /** A person's answers to the questions of the agent. */
  readonly person?: readonly GivenAnswer[];
  readonly expect: {
    readonly text: string;
    readonly result?: Json;
    readonly error?: Json;
    readonly reasoning?: string;
    readonly news?: readonly string[];
    readonly methods?: readonly string[];
    readonly questions?: readonly JsonObject[];
    /** The messages that were sent. */
    readonly sent?: readonly JsonObject[];
  };
}

const folder = fileURLToPath(new URL('.', import.meta.url));
const quirks = ['recordings', 'fixtures'].flatMap((kind) =>
  readdirSync(`${folder}${kind}`).map((name): [string, Quirk] => [
    `${kind}/${name}`,
    JSON.parse(readFileSync(`${folder}${kind}/${name}`, 'utf8')),
  ]),
);

test.each(quirks)('%s is read as its own SDK intends', async (_, quirk) => {
  await using peer = await ScriptedPeer.start(quirk.answers);
  const card = JSON.parse(JSON.stringify(quirk.card ?? {}).replaceAll('{url}', peer.url));
  // A recorded one is whole.
  peer.card = 'name' in card ? card : { ...cardAt(peer.url), ...card };
  const context = new TestContext();
  const url = new URL(peer.url);
  await using agent = openA2aAgent(
    'partner',
    { url, isCard: false },
    { ...context, gate: context.gate, clock: systemClock },
  );
  const person = [...(quirk.person ?? [])];
  context.person = () => person.shift() ?? { action: 'decline' };
  const parts = await context.ask(agent, 'hello');
  const { text, result, error, reasoning, news, methods, questions, sent } = quirk.expect;
  expect(textIn(parts)).toBe(text);
  if (reasoning !== undefined) expect(bodies(parts, 'reasoning').join('')).toBe(reasoning);
  const last = parts.at(-1);
  if (error === undefined) expect(last).toEqual({ part: 'complete', result: result ?? null });
  else expect(last?.part === 'frame' ? last.frame.body : last).toMatchObject(error as object);
  if (news !== undefined) expect(newsIn(parts)).toEqual(news);
  expect(context.questions).toMatchObject(questions ?? []);
  if (sent !== undefined) {
    const messages = peer.requests.flatMap(({ body }) => (isObject(body['params']) ? [body['params']['message']] : []));
    expect(messages).toMatchObject(sent);
  }
  if (methods !== undefined) expect(peer.methods.filter((method) => method !== 'card')).toEqual(methods);
});

function textIn(parts: readonly AgentPart[]): string {
  return bodies(parts, 'text').join('');
}

function newsIn(parts: readonly AgentPart[]): Json[] {
  return bodies(parts, 'custom').map((delta) => (delta as JsonObject)['text'] ?? null);
}

function bodies(parts: readonly AgentPart[], kind: string): Json[] {
  return parts.flatMap((part) =>
    part.part === 'chunk' && part.body['delta_kind'] === kind ? [part.body['delta'] ?? null] : [],
  );
}
