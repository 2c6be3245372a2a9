import { PassThrough } from 'node:stream';
import { connectWire, streamWire, type WireClient } from '@dragoman/client/wire';
import { serveStdio, systemClock } from '@dragoman/server';
import type { Context } from '../context.ts';
import { withLocalHost } from './local-host.ts';

/** The wire to the tools of a configuration, in this process and without a server, for as long as the action takes. */
export function withLocalWire<T>(
  config: string | undefined,
  context: Context,
  action: (wire: WireClient) => Promise<T>,
): Promise<T> {
  return withLocalHost({ ...(config !== undefined && { config }) }, context, async ({ wire: { host } }) => {
    const [there, back] = [new PassThrough(), new PassThrough()];
    void serveStdio({ input: there, output: back }, { host, clock: systemClock });
    const wire = await connectWire({ transport: streamWire({ input: back, output: there }) });
    try {
      return await action(wire);
    } finally {
      await wire.close();
    }
  });
}
