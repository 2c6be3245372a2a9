import type { LongText } from '../text/long-text.ts';
import type { FrameRow, RequestKey } from './store.ts';

/**
 * Refuses text that a database would cut off or refuse itself. JSON text never contains it: it writes `\u0000`. Bytes are
 * JSON written by this server, and not searched.
 */
export function requireStorable(...texts: readonly (string | Uint8Array | LongText | null)[]): void {
  if (texts.some((text) => typeof text === 'string' && text.includes('\0')))
    throw new Error('text with a NUL character cannot be stored');
}

/** Only a bug can cause this: an answer without its end would never get one. */
export function requireWhole({ requestId }: RequestKey, frames: readonly FrameRow[]): void {
  const [first] = frames;
  if (first?.sequence !== 0 || frames.at(-1)?.isFinal !== true)
    throw new Error(`the answer to ${requestId} is not whole`);
}
