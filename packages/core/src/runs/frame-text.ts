import { type E2AResponse, encodeResponse } from '@dragoman/protocols';

/** A frame as the JSON text that is journaled and sent: written once, the same bytes for every reader. */
export function frameText(frame: E2AResponse): string {
  let text = texts.get(frame);
  if (text === undefined) {
    text = JSON.stringify(encodeResponse(frame));
    texts.set(frame, text);
  }
  return text;
}

/** A frame back from the journal. We wrote it, so nothing is checked again. */
export function frameFrom(text: string): E2AResponse {
  const frame = { extras: {}, ...(JSON.parse(text) as Omit<E2AResponse, 'extras'>) };
  texts.set(frame, text);
  return frame;
}

const texts = new WeakMap<E2AResponse, string>();
