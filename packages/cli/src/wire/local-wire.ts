import { PassThrough } from 'node:stream';
import { connectWire, streamWire, type WireClient } from '@dragoman/client/wire';
import { temporaryFolder } from '@dragoman/core';
import { serveStdio, startServer, systemClock, systemIds } from '@dragoman/server';
import type { Context } from '../context.ts';
import { readSettings } from '../serve/settings.ts';
import { startTrouble } from '../serve/start-trouble.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { fail } from '../trouble.ts';
import { ownStdout } from './own-stdout.ts';
import { temporaryPlaces } from './temporary-places.ts';

/** The tools of a configuration, in this process and without a server, for as long as the action takes. */
export async function withLocalWire<T>(
  config: string,
  context: Context,
  action: (wire: WireClient) => Promise<T>,
): Promise<T> {
  const settings = readSettings({ config }, context);
  const log = terminalLog(context.terminal);
  const folder = temporaryFolder({ places: temporaryPlaces(context), log });
  // What comes of the action is printed when it is over; what a tool prints is no part of it.
  const { giveBack } = ownStdout();
  try {
    const server = await startServer({
      config: { ...settings.config, store: 'memory' },
      folder: folder.path,
      log,
      clock: systemClock,
      ids: systemIds,
      isEmbedded: true,
    }).catch(async (error: unknown) => fail(await startTrouble(error, { settings, command: 'wire' })));
    const [there, back] = [new PassThrough(), new PassThrough()];
    void serveStdio({ input: there, output: back }, { host: server.wire.host, clock: systemClock });
    const wire = await connectWire({ transport: streamWire({ input: back, output: there }) });
    try {
      return await action(wire);
    } finally {
      await wire.close();
      await server.stop({ drainMs: 0 });
    }
  } finally {
    giveBack();
    folder.remove();
  }
}
