import { ALL_PERMISSIONS, engineHub, type Principal } from '@dragoman/core';
import { systemIds } from '@dragoman/server';
import { type ConnectionOptions, connect } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { readText } from '../input.ts';
import { terminalLog } from '../serve/terminal-log.ts';
import { fail } from '../trouble.ts';
import { ownStdin } from '../wire/own-stdin.ts';
import { ownStdout } from '../wire/own-stdout.ts';
import { runStdioHost } from '../wire/stdio-host.ts';
import { clientHub } from './client-hub.ts';
import { serveAcp } from './serve-acp.ts';

export interface AcpFlags extends Omit<ConnectionOptions, 'json'> {
  readonly agent?: string;
  readonly server?: string;
  readonly keyFile?: string;
  readonly config?: string;
}

/** Serves ACP to the parent process, with the agents of another server or of a server of its own. */
export function runAcp(options: AcpFlags & { json: boolean }, context: Context): Promise<ExitCode> {
  const { config, server, url, key, keyFile } = options;
  if (config === undefined) return forward(options, context);
  if ((server ?? url ?? key ?? keyFile) !== undefined) {
    fail({ code: 'usage', message: 'give --server or --config, not both', exitCode: 2 });
  }
  return runStdioHost(options, context, {
    command: 'acp',
    serve: async ({ server: { engine }, input, output }) => {
      const log = terminalLog(context.terminal, { level: 'warn' });
      const left = new AbortController();
      const hub = engineHub({ engine, ids: systemIds, log, principal: () => OPERATOR, signal: left.signal });
      await serveAcp({ hub, agent: options.agent, input, output, log });
      left.abort();
    },
  });
}

/**
 * Serves the agents of another server. If the editor leaves, the running turn continues there, and `session/load` finds
 * it.
 */
async function forward(options: AcpFlags, context: Context): Promise<ExitCode> {
  const { server, keyFile, agent, ...connecting } = options;
  const key = keyFile === undefined ? options.key : (await readText(keyFile, context)).trim();
  if (key === '') fail({ code: 'missing_key', message: `no key in ${keyFile}` });
  const url = server ?? options.url;
  const { client } = await connect(
    { ...connecting, ...(url !== undefined && { url }), ...(key !== undefined && { key }) },
    context,
    'agent',
  );
  const { output, giveBack } = ownStdout();
  const input = ownStdin();
  try {
    const log = terminalLog(context.terminal, { level: 'warn' });
    await serveAcp({ hub: clientHub(client), agent, input, output, log });
    return 0;
  } finally {
    input.destroy();
    giveBack();
  }
}

/** The caller is the program that started this process, which may do everything that its user may do. */
const OPERATOR: Principal = { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS };
