import { resolve } from 'node:path';
import { type Log, temporaryFolder } from '@dragoman/core';
import { type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import type { Context } from '../context.ts';
import { createDataFolder } from '../serve/create-data-folder.ts';
import { readSettings } from '../serve/settings.ts';
import { startTrouble } from '../serve/start-trouble.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { fail } from '../trouble.ts';
import { howToAccept } from './how-to-accept.ts';
import { ownStdout } from './own-stdout.ts';
import { temporaryPlaces } from './temporary-places.ts';

export interface LocalHostOptions {
  readonly config?: string;
  /** The folder of its data. Without one, nothing is stored. */
  readonly data?: string;
  /** Default: the terminal. */
  readonly log?: Log;
}

/** The tools of a configuration, in this process and without a server, for as long as the action takes. */
export async function withLocalHost<T>(
  options: LocalHostOptions,
  context: Context,
  action: (server: Server) => Promise<T>,
): Promise<T> {
  const settings = readSettings(options, context);
  const { adminKey, vaultKey, configPath } = settings;
  const { log = terminalLog(context.terminal, { level: 'warn' }) } = options;
  const data = options.data === undefined ? undefined : resolve(context.folder, options.data);
  if (data !== undefined) createDataFolder(data);
  const temporary = data === undefined ? temporaryFolder({ places: temporaryPlaces(context), log }) : undefined;
  // The result is printed after the action. What a tool prints meanwhile must not be part of it.
  const { giveBack } = ownStdout();
  try {
    const server = await startServer({
      config: data === undefined ? { ...settings.config, store: 'memory' } : settings.config,
      folder: data ?? temporary?.path ?? '',
      log,
      clock: systemClock,
      ids: systemIds,
      isEmbedded: true,
      howToAccept: howToAccept({ config: configPath, data }),
      environment: context.environment,
      ...(data !== undefined && adminKey !== undefined && { adminKey }),
      ...(data !== undefined && vaultKey !== undefined && { vaultKey }),
    }).catch(async (error: unknown) =>
      fail(await startTrouble(error, { settings, command: data === undefined ? 'wire' : 'tools accept' })),
    );
    try {
      return await action(server);
    } finally {
      await server.stop({ drainMs: 0 });
    }
  } finally {
    giveBack();
    temporary?.remove();
  }
}
