import { isPostgresUrl } from '@dragoman/core';
import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';
import { syntaxFault } from '../doctor/syntax-fault.ts';
import type { Trouble } from '../trouble.ts';
import { folderHolder } from './folder-holder.ts';
import { portHolder } from './port-holder.ts';
import type { ServeSettings } from './settings.ts';

/** Why a server did not start, with fixes. */
export async function startTrouble(
  error: unknown,
  { settings, command }: { settings: ServeSettings; command: StartCommand },
): Promise<Trouble> {
  const failed: ListenError = error instanceof Error ? error : new Error(String(error));
  const { code, message, fix } = failed;
  const { host, port } = settings.config;
  const { config: ofConfig, data: ofData } = settings.flags;
  const again = `${PROGRAM} ${command}${ofConfig}${ofData}`;
  switch (code) {
    case 'EADDRINUSE':
      return portTaken(failed, { settings, again });
    case 'EACCES':
      if (failed.port === -1) return noSocket(`this user may not create the socket ${failed.address}`, settings);
      return {
        code: 'port_forbidden',
        message: `this user may not listen on port ${port} of ${host}`,
        fixes: [`use a port above 1023: ${again} --port 7420`],
      };
    case 'socket_path':
      return noSocket(message, settings);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'no_such_address',
        message: `this machine has no address ${host}`,
        fixes: [
          `listen on this machine only: ${again} --host 127.0.0.1`,
          `or on all addresses: ${again} --host 0.0.0.0`,
        ],
      };
    case 'store_unreachable':
      return { code, message };
    case 'vault_key':
      return {
        code,
        message,
        fixes: ['create one and store it safely: export DRAGOMAN_VAULT_KEY=$(openssl rand -base64 32)'],
      };
    case 'store_locked':
      if (isPostgresUrl(settings.config.store ?? '')) return { code, message };
      return folderTaken(message, { settings, command });
    case 'store_damaged':
    case 'store_foreign':
    case 'store_newer':
    case 'driver_missing':
      return { code, message, fixes: [`run the checks: ${PROGRAM} doctor${ofConfig} --data ${asWord(settings.data)}`] };
    // The message contains the command that creates a new key.
    case 'admin_key':
      return { code, message };
    case 'store_lost':
      return {
        code,
        message,
        fixes: [
          'restore a backup: docs/how-to/back-up-and-restore.md',
          `or continue with what is left: ${PROGRAM} ${command === 'dev' ? 'dev' : 'serve'}${ofConfig} --data ${asWord(settings.data)} --accept-loss`,
        ],
      };
    case 'vault_locked':
      return {
        code,
        message,
        fixes: [
          message.includes('is not a valid key')
            ? 'correct it, or for a first start create one: openssl rand -base64 32'
            : 'restore the key that the vault was encrypted with',
          `or start with another folder: ${PROGRAM} ${command}${ofConfig} --data OTHER_FOLDER`,
        ],
      };
    case 'bad_reference':
      return {
        code,
        message,
        fixes: [fix ?? 'correct it', `or change it in ${settings.configPath ?? 'the configuration'}`],
      };
    case 'module_missing':
      return {
        code,
        message,
        fixes: [`create it, or correct its path in ${settings.configPath ?? 'the configuration'}`],
      };
    case 'config_cut_off':
      return {
        code,
        message,
        fixes: [
          'if the file is complete, add the line "version: 1" at its end, and reload',
          `or allow a reload to remove all agents: ${again} --allow-empty`,
        ],
      };
    case 'module_broken':
      return { code, message, fixes: moduleFixes(failed) };
    case 'ERR_MODULE_NOT_FOUND':
      return { code: 'installation_broken', message, fixes: ['npm ci'] };
    default:
      return { code: 'start_failed', message, fixes: [`run the checks: ${PROGRAM} doctor${ofConfig}${ofData}`] };
  }
}

/** Fixes for a module that cannot be loaded. Node reports the line of a syntax error only in this form. */
function moduleFixes({ path, cause }: NodeJS.ErrnoException): string[] {
  const file = asWord(path ?? 'FILE');
  const { code, message = '' } = Object(cause) as { code?: unknown; message?: string };
  const missing = code === 'ERR_MODULE_NOT_FOUND' ? /^Cannot find package '([^']+)'/.exec(message)?.[1] : undefined;
  if (missing?.startsWith('@dragoman/') === true) {
    const part = missing.slice('@dragoman/'.length);
    return [
      'move the file into the Dragoman clone: the packages are not published',
      `or link the missing package, in the folder of the file: npm link CLONE/packages/${part}`,
    ];
  }
  if (missing !== undefined) return [`install it, in the folder of the file: npm install ${missing}`];
  const isUnreadable = path === undefined || syntaxFault(path) !== undefined;
  return [`see where: node ${isUnreadable ? '--check ' : ''}${file}`];
}

export type StartCommand = 'serve' | 'dev' | 'wire' | 'mcp' | 'acp' | 'workflow run' | 'tools accept';

/** The error for a data folder in use: the server that uses it, its address, and three possible fixes. */
async function folderTaken(
  message: string,
  { settings: { data, flags }, command }: { settings: ServeSettings; command: StartCommand },
): Promise<Trouble> {
  const code = 'store_locked';
  const port = command === 'serve' || command === 'dev' ? ' --port 0' : '';
  const another = `start another server with its own data folder: ${PROGRAM} ${command}${flags.config} --data OTHER_FOLDER${port}`;
  // For an administrative command, another folder is not a fix.
  const beside = command === 'tools accept' ? [] : [another];
  const holder = await folderHolder(data);
  if (holder === undefined) return { code, message, fixes: beside };
  const { pid, host, since, url } = holder;
  const who = `process ${pid}${host === undefined ? '' : ` on ${host}`}, since ${since.toISOString()}`;
  const uses: { readonly [Command in StartCommand]?: string } = {
    dev: `tour --data ${asWord(data)}`,
    'tools accept': `tools accept NAME --url ${url}`,
  };
  const use = `${PROGRAM} ${uses[command] ?? `doctor --url ${url}`}`;
  return {
    code,
    message: `the data folder ${data} is in use by a running server: ${url === undefined ? '' : `${url}, `}${who}`,
    fixes: [
      ...(url === undefined ? [] : [`use that server: ${use}`]),
      `stop it: kill ${pid}${host === undefined ? '' : ` on ${host}`}`,
      ...beside,
    ],
  };
}

function noSocket(message: string, { configPath }: ServeSettings): Trouble {
  return { code: 'socket_path', message, fixes: [`correct wire.socket in ${configPath ?? 'the configuration'}`] };
}

/**
 * The operating system's error for an unavailable port. For a unix socket, Node has its path in `address`, and `port`
 * is -1.
 */
type ListenError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string; readonly fix?: string };

async function portTaken(
  { port: taken, address }: ListenError,
  { settings: { config, configPath }, again }: { settings: ServeSettings; again: string },
): Promise<Trouble> {
  const { host, port } = config;
  const file = configPath ?? 'the configuration';
  if (taken === -1) {
    const fixes = [`stop the server that listens there, or correct wire.socket in ${file}`];
    return { code: 'port_taken', message: `the socket ${address} is taken by another server`, fixes };
  }
  const number = taken ?? port;
  const { who, isDragoman } = await portHolder({ host, port: number });
  const message = `port ${number} on ${host} is taken by ${who}`;
  const member = OTHER_PORTS.find((name) => config[name]?.port === number && number !== port);
  if (member !== undefined) {
    const fixes = [`set ${member}.port in ${file} to another port, or to 0 for any free port`];
    return { code: 'port_taken', message: `${member}.port: ${message}`, fixes };
  }
  const other = isDragoman
    ? `or use the running server: ${PROGRAM} doctor`
    : `or find the process: lsof -i :${number} -sTCP:LISTEN`;
  return { code: 'port_taken', message, fixes: [`use any free port: ${again} --port 0`, other] };
}

/** Members of the configuration that open an additional port. */
export const OTHER_PORTS = ['wire', 'messages'] as const;
