import { type E2AResponse, isObject } from '@dragoman/protocols';
import type { RecordedTurn } from '../store/store.ts';
import { cutTo } from '../text/cut-to.ts';
import { frameFrom } from './frame-text.ts';
import type { Runs } from './runs.ts';
import { textOf, withStreamed } from './streamed-text.ts';

/**
 * The answer of a recorded turn: its final frame, with the streamed text where that frame has no result of its own.
 * `undefined` while the turn has no end. A very long text is cut; the request has all of it.
 */
export async function lookBack(
  { requestId, final }: RecordedTurn,
  { owner, runs }: { readonly owner: string; readonly runs: Pick<Runs, 'read'> },
): Promise<E2AResponse | undefined> {
  if (final === null) return undefined;
  const frame = frameFrom(final);
  const text = onlyTextOf(frame);
  if (text !== undefined) return withText(frame, cut(text));
  const hasNoResult = withStreamed(frame, null) !== frame;
  if (!hasNoResult || frame.sequence === 0) return frame;
  let streamed = '';
  for await (const one of runs.read({ owner, requestId }, -1)) {
    streamed += textOf(one);
    if (streamed.length > LONGEST) break;
  }
  return streamed === '' ? frame : withText(frame, cut(streamed));
}

/** The text of a unary answer that was nothing but text. It reads the same as a streamed one. */
function onlyTextOf({ response_kind: kind, body: { result } }: E2AResponse): string | undefined {
  if (kind !== 'e2a.complete' || !isObject(result) || Object.keys(result).length !== 1) return undefined;
  return typeof result['text'] === 'string' ? result['text'] : undefined;
}

function withText(frame: E2AResponse, text: string): E2AResponse {
  return { ...frame, body: { ...frame.body, result: text } };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${cutTo(text, LONGEST)}…` : text;
}

/** Characters of one answer. A model takes little more of a conversation, and a page has fifty answers. */
const LONGEST = 64 * 1024;
