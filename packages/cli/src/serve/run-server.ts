import { jsonLog, type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import { PROGRAM } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { fail, troubled } from '../trouble.ts';
import type { ServeSettings } from './settings.ts';
import { startTrouble } from './start-trouble.ts';
import { outliveStrayErrors } from './stray-errors.ts';
import { terminalLog } from './terminal-log.ts';

export interface ServerRun {
  readonly settings: ServeSettings;
  readonly context: Context;
  readonly json: boolean;
  /** The running command, for the commands in error messages. */
  readonly command: 'serve' | 'dev';
  /** Gets the admin key of a first start. Called even if the start fails later, because the key is shown only once. */
  readonly onAdminKey: (key: string) => void;
  /** Called when the server listens, to create what the command needs and to inform the user. */
  readonly onListening: (server: Server) => Promise<void>;
  /** Called at SIGHUP, unless SIGHUP means that the terminal was closed. */
  readonly onHangUp?: (server: Server) => Promise<void>;
  /** Whether a terminal shows requests at this moment. Default: always. */
  readonly showsRequests?: () => boolean;
  /** Default: `startServer`. Tests pass their own. */
  readonly start?: typeof startServer;
}

/**
 * Runs a server until it receives a stop signal.
 *
 *   starting ──▶ listening ──signal──▶ draining ──▶ exit 0
 *      │             │                    └─second signal──▶ exit 1, at once
 *      └─trouble─────┴─the disk failed──▶ exit 1
 *
 * On a terminal, SIGHUP means that the terminal was closed, and stops the server like the other signals. A service has
 * no terminal, and reloads its configuration.
 */
export async function runServer({
  settings,
  context,
  json,
  start = startServer,
  ...run
}: ServerRun): Promise<ExitCode> {
  const { terminal } = context;
  const isService = run.onHangUp !== undefined && !terminal.isTTY;
  const signal = firstSignal(context, !isService);
  let running: Server | undefined;
  const reread = () => {
    if (running !== undefined) void run.onHangUp?.(running);
  };
  const forgetHangUp = isService ? context.onHangUp(reread) : () => {};
  const disk = brokenDisk();
  const { level = 'info' } = settings.config.log ?? {};
  const log = json ? jsonLog(level) : terminalLog(terminal, { level, showsRequests: run.showsRequests });
  const forgetStray = outliveStrayErrors(context, log);
  const { config, data: folder, adminKey, vaultKey, nextVaultKey, acceptLoss } = settings;
  const options = {
    config,
    folder,
    log,
    howToAccept: (tool: string) => `${PROGRAM} tools accept ${tool}${where}`,
    ...(adminKey !== undefined && { adminKey }),
    ...(vaultKey !== undefined && { vaultKey }),
    ...(nextVaultKey !== undefined && { nextVaultKey }),
    environment: context.environment,
    ...(acceptLoss !== undefined && { acceptLoss }),
  };
  let newAdminKey: string | undefined;
  // `dev` writes its address to its folder. For `serve`, commands get the URL; tool callers do not get that of a
  // separate admin listener.
  let where = settings.flags.data;
  try {
    const server = await start({
      ...options,
      clock: systemClock,
      ids: systemIds,
      onAdminKey: (key) => {
        newAdminKey = key;
      },
      onFatal: disk.break,
    }).catch(async (error: unknown) => {
      if (newAdminKey !== undefined) run.onAdminKey(newAdminKey);
      fail(await startTrouble(error, { settings, command: run.command }));
    });
    const { url: wire } = server.wire;
    const { url: messages } = server.messages;
    const { url, adminUrl: admin } = server;
    if (run.command === 'serve') where = admin === url ? ` --url ${url}` : '';
    const endpoints = { ...(admin !== url && { admin }), ...(wire && { wire }), ...(messages && { messages }) };
    if (json) terminal.out(`${JSON.stringify({ event: 'listening', url, ...endpoints })}\n`);
    if (newAdminKey !== undefined) run.onAdminKey(newAdminKey);
    running = server;
    await run.onListening(server);
    await Promise.race([signal.received, disk.broken]);
    running = undefined;
    if (!json) terminal.note('Stopping: running requests may finish. Press Ctrl-C again to stop immediately.\n');
    await Promise.race([server.stop(), disk.broken]);
    return 0;
  } finally {
    forgetStray();
    forgetHangUp();
    signal.forget();
  }
}

/** Resolves at the first signal; the second ends the process. */
function firstSignal(
  { onSignal, onHangUp, exit }: Context,
  withHangUp: boolean,
): { readonly received: Promise<void>; forget(): void } {
  let stop: (() => void) | undefined;
  const received = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const onStopSignal = () => {
    if (stop === undefined) return exit(1);
    stop();
    stop = undefined;
  };
  const forgets = [onSignal(onStopSignal), ...(withHangUp ? [onHangUp(onStopSignal)] : [])];
  const forget = () => {
    for (const one of forgets) one();
  };
  return { received, forget };
}

/** A promise that rejects after a failure of the disk: only a restart finds out what was written. */
function brokenDisk(): { readonly broken: Promise<never>; break(error: Error): void } {
  let refuse: (error: Error) => void = () => {};
  const broken = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  broken.catch(() => {});
  return {
    broken,
    break: ({ message }) =>
      refuse(
        troubled({
          code: 'store_failed',
          message: `the store failed, so the server stops: ${message}`,
          fixes: ['check the disk and the system log, then start again: acknowledged data is not lost'],
        }),
      ),
  };
}
