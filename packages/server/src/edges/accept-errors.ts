import type { Server } from 'node:net';
import type { Clock, Log } from '@dragoman/core';
import { eachSecond } from './each-second.ts';

/** Without a listener, an accept that fails because descriptors have run out (EMFILE, ENFILE) would end the process. */
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
