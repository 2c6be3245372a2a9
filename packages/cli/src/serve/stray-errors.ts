import type { Log } from '@dragoman/core';
import type { Context } from '../context.ts';

/**
 * Agents and tools of the operator's run in our process. An unhandled rejection of theirs, or a
 * timer or listener of theirs that throws, would end it, with everyone's answers; but it affects nothing else, so it is logged. What
 * goes wrong in our own code is another matter: the state is unknown, and a restart recovers it.
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
const THEIRS = 'unhandled error in an agent or tool; the server continues';
const OURS = 'unhandled internal error; the server stops, and a restart continues the open work';
