import { type E2AResponse, isObject } from '@dragoman/protocols';
import type { RecordedTurn } from '../store/store.ts';
import { cutTo } from '../text/cut-to.ts';
import { frameFrom } from './frame-text.ts';
import type { Runs } from './runs.ts';
import { textOf, withStreamed } from './streamed-text.ts';

/**
 * How a turn was answered, for later readers: its final frame, with what was streamed before where that frame says
 * nothing itself. `undefined` as long as there is no end. Only the beginning of a very long answer: the whole is read by its
 * request.
 */
export async function lookBack(
  { requestId, final }: RecordedTurn,
  { owner, runs }: { readonly owner: string; readonly runs: Pick<Runs, 'read'> },
): Promise<E2AResponse | undefined> {
  if (final === null) return undefined;
  const frame = frameFrom(final);
  const spoken = onlyTextOf(frame);
  if (spoken !== undefined) return saying(frame, cut(spoken));
  const isSilent = withStreamed(frame, null) !== frame;
  if (!isSilent || frame.sequence === 0) return frame;
  let text = '';
  for await (const one of runs.read({ owner, requestId }, -1)) {
    text += textOf(one);
    if (text.length > LONGEST) break;
  }
  return text === '' ? frame : saying(frame, cut(text));
}

/** The text of a unary answer that was nothing but text. It reads the same as a streamed one. */
function onlyTextOf({ response_kind: kind, body: { result } }: E2AResponse): string | undefined {
  if (kind !== 'e2a.complete' || !isObject(result) || Object.keys(result).length !== 1) return undefined;
  return typeof result['text'] === 'string' ? result['text'] : undefined;
}

function saying(frame: E2AResponse, text: string): E2AResponse {
  return { ...frame, body: { ...frame.body, result: text } };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${cutTo(text, LONGEST)}…` : text;
}

/** Characters of one answer. A model that is told of the conversation takes little more, and a page has fifty of them. */
const LONGEST = 64 * 1024;
