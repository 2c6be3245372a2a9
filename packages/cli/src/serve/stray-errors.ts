import type { Log } from '@dragoman/core';
import type { Context } from '../context.ts';

/**
 * Handles errors that nothing caught, which would end the process and all answers. The operator's agents and tools run
 * in this process: an unhandled rejection, or a timer or listener of theirs that throws, affects nothing else, so it is
 * only logged. After an error in our own code the state is unknown, so the process exits, and a restart recovers.
 * Returns a function that stops this.
 */
export function outliveStrayErrors({ onStrayError, exit }: Context, log: Log): () => void {
  return onStrayError((error, kind) => {
    const isOurs = kind === 'exception' && isFromUs(error);
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    log.error({ error: message, stack }, isOurs ? OURS : THEIRS);
    if (isOurs) exit(1);
  });
}

/** Whether the innermost frame is in one of our packages, leaving out frames of Node and of libraries. */
function isFromUs(error: unknown): boolean {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node:'));
  const known = frames.find((frame) => OWN.test(frame) || !frame.includes('node_modules'));
  return known !== undefined && OWN.test(known);
}

/** The paths of our packages, in a clone and when installed. */
const OWN = /[\\/](?:packages|@dragoman)[\\/](?:cli|client|core|protocols|server)[\\/](?:dist|src)[\\/]/;
const THEIRS = 'unhandled error in an agent or tool; the server continues';
const OURS = 'unhandled internal error; the server stops, and a restart continues the open work';
