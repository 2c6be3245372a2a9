import type { Server } from 'node:net';
import type { Clock, Log } from '@dragoman/core';
import { eachSecond } from './each-second.ts';

/**
 * Logs failures to accept a connection. Without a listener, running out of descriptors (EMFILE, ENFILE) would end the
 * process.
 */
export function reportAcceptErrors(
  server: Server,
  { clock, log }: { readonly clock: Clock; readonly log?: Log },
): void {
  let last = '';
  const report = eachSecond(clock, (count) =>
    log?.error(
      { error: last, count },
      'Connections could not be accepted. If descriptors have run out, raise ulimit -n.',
    ),
  );
  server.on('error', (error) => {
    last = String(error);
    report();
  });
}
