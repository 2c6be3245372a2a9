import type { LongText } from '../text/long-text.ts';
import type { FrameRow, RequestKey } from './store.ts';

/**
 * Refuses text with a NUL character, at which SQLite would cut it off and which PostgreSQL refuses. JSON text never
 * contains one, because it is escaped as `\u0000`. Bytes are JSON that this server wrote, so they are not searched.
 */
export function requireStorable(...texts: readonly (string | Uint8Array | LongText | null)[]): void {
  if (texts.some((text) => typeof text === 'string' && text.includes('\0')))
    throw new Error('text with a NUL character cannot be stored');
}

/**
 * Throws unless the frames are a whole answer. Only a bug can cause this; an answer recorded without its end never gets
 * one.
 */
export function requireWhole({ requestId }: RequestKey, frames: readonly FrameRow[]): void {
  const [first] = frames;
  if (first?.sequence !== 0 || frames.at(-1)?.isFinal !== true)
    throw new Error(`the answer to ${requestId} is not whole`);
}
