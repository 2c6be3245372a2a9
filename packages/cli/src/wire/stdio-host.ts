import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { temporaryFolder } from '@dragoman/core';
import {
  type Config,
  jsonLog,
  type LineOutput,
  type Server,
  startServer,
  systemClock,
  systemIds,
} from '@dragoman/server';
import type { Context, ExitCode } from '../context.ts';
import { createDataFolder } from '../serve/create-data-folder.ts';
import { readSettings } from '../serve/settings.ts';
import { type StartCommand, startTrouble } from '../serve/start-trouble.ts';
import { outliveStrayErrors } from '../serve/stray-errors.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { fail } from '../trouble.ts';
import { howToAccept } from './how-to-accept.ts';
import { ownStdin } from './own-stdin.ts';
import { ownStdout } from './own-stdout.ts';
import { temporaryPlaces } from './temporary-places.ts';

export interface StdioHostFlags {
  readonly config?: string;
  readonly data?: string;
}

/** A server without ports, and the standard streams of this process. */
export interface StdioHost {
  readonly server: Server;
  readonly config: Config;
  readonly input: Readable;
  readonly output: LineOutput;
}

/** Runs a server for the parent process, until `serve` resolves or a signal arrives. */
export async function runStdioHost(
  options: StdioHostFlags & { json: boolean },
  context: Context,
  { command, serve }: { readonly command: StartCommand; readonly serve: (host: StdioHost) => Promise<void> },
): Promise<ExitCode> {
  const settings = readSettings({ ...(options.config !== undefined && { config: options.config }) }, context);
  const data = options.data === undefined ? undefined : resolve(context.folder, options.data);
  if (data !== undefined) createDataFolder(data);
  const { output, giveBack } = ownStdout();
  const { config, adminKey, vaultKey } = settings;
  const log = options.json ? jsonLog('info') : terminalLog(context.terminal, { level: 'warn' });
  const temporary = data === undefined ? temporaryFolder({ places: temporaryPlaces(context), log }) : undefined;
  const folder = data ?? temporary?.path ?? '';
  const forgetStray = outliveStrayErrors(context, log);
  let server: Server | undefined;
  let input: Readable | undefined;
  let forget = () => {};
  let awake: NodeJS.Timeout | undefined;
  try {
    server = await startServer({
      config: temporary === undefined ? config : { ...config, store: 'memory' },
      folder,
      log,
      clock: systemClock,
      ids: systemIds,
      isEmbedded: true,
      howToAccept: howToAccept({
        config: settings.configPath,
        data: temporary === undefined && config.store !== 'memory' ? folder : undefined,
      }),
      onFatal: () => context.exit(1),
      ...(adminKey !== undefined && { adminKey }),
      ...(vaultKey !== undefined && { vaultKey }),
      environment: context.environment,
    }).catch(async (error: unknown) =>
      fail(await startTrouble(error, { settings: { ...settings, data: folder }, command })),
    );
    const signalled = new Promise<void>((stop) => {
      forget = context.onSignal(stop);
    });
    input = ownStdin();
    // After the end of its input Node may have nothing left to wait for, while a tool has.
    awake = setInterval(() => {}, LONGEST_MS);
    await Promise.race([serve({ server, config, input, output }), signalled]);
    return 0;
  } finally {
    forget();
    await server?.stop({ drainMs: 1000 });
    forgetStray();
    input?.destroy();
    giveBack();
    temporary?.remove();
    clearInterval(awake);
  }
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;
