import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import type { Context } from '../context.ts';
import { Demo } from '../demo/demo.ts';
import type { DevKeys } from '../dev-keys.ts';
import { listenCertificate } from '../listen/certificate.ts';
import { settingsFrom } from '../serve/settings.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { Callbacks } from './stage.ts';

export interface PrivateDemo {
  readonly keys: DevKeys;
  readonly callbacks: Callbacks;
  readonly data: string;
}

/** A server with the demo, on a free port and with its own folder, for as long as the action takes. */
export async function withPrivateDemo<T>(context: Context, action: (demo: PrivateDemo) => Promise<T>): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), 'dragoman-tour-'));
  let [url, adminKey] = ['', undefined as string | undefined];
  let server: Server | undefined;
  try {
    await using callbacks = await Callbacks.listen(0, listenCertificate(data, context.now()), () => url);
    const usual = settingsFrom({ path: undefined, config: {} }, { port: 0, data }, { environment: {}, folder: data });
    await using demo = await Demo.start(usual, { callbackPort: callbacks.port, now: context.now() });
    server = await startServer({
      config: demo.settings.config,
      folder: data,
      log: terminalLog(context.terminal, { level: 'warn' }),
      clock: systemClock,
      ids: systemIds,
      onAdminKey: (key) => {
        adminKey = key;
      },
    });
    const keys = await demo.furnish(server, adminKey);
    url = keys.url;
    return await action({ keys, callbacks, data });
  } finally {
    await server?.stop({ drainMs: 1000 });
    rmSync(data, { recursive: true, force: true });
  }
}
