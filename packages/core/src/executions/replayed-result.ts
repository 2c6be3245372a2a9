import type { LongText } from '../text/long-text.ts';

/** The answer to a repeat: the recorded result, with `replayed` and the time of the first run as its first members. */
export function replayedResult(result: string | LongText, firstRunAt: number): string | LongText {
  const head = `{"replayed":true,"first_run_at":"${new Date(firstRunAt).toISOString()}",`;
  if (typeof result === 'string') return head + result.slice(1);
  const [first = new Uint8Array(0), ...rest] = result.parts;
  return { parts: [Buffer.from(head), first.subarray(1), ...rest] };
}
