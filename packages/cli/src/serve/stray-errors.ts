import type { Log } from '@dragoman/core';
import type { Context } from '../context.ts';

/**
 * Agents and tools of the operator's run in our process. A promise of theirs that is rejected and that nobody waits for, or a
 * timer or listener of theirs that throws, would end it, with everybody's answers; but it hurts nobody else, so it is logged. What
 * goes wrong in our own code is another matter: then nobody knows what is left undone, and a new start does.
 *
 * Returns what ends it.
 */
export function outliveStrayErrors({ onStrayError, exit }: Context, log: Log): () => void {
  return onStrayError((error, kind) => {
    const isOurs = kind === 'exception' && isFromUs(error);
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    log.error({ error: message, stack }, isOurs ? OURS : THEIRS);
    if (isOurs) exit(1);
  });
}

/** Whether the innermost frame that is neither Node's nor that of a library is in one of our packages. */
function isFromUs(error: unknown): boolean {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node:'));
  const known = frames.find((frame) => OWN.test(frame) || !frame.includes('node_modules'));
  return known !== undefined && OWN.test(known);
}

/** As they lie in a clone, and as they are installed. */
const OWN = /[\\/](?:packages|@dragoman)[\\/](?:cli|client|core|protocols|server)[\\/](?:dist|src)[\\/]/;
const THEIRS = 'an error that nobody waited for; the server goes on';
const OURS =
  'something went wrong on our side that nobody waited for; the server ends, and a new start takes up what is left';
