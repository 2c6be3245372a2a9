import { type Client, createClient, DragomanError } from '@dragoman/client';
import { valueAt } from '@dragoman/protocols';
import type { Command } from 'commander';
import { nonEmptyName, PROGRAM } from './command.ts';
import type { Context } from './context.ts';
import { areDevKeysPrivate, DEFAULT_DEV_DATA, type DevKeys, devDataIn, devKeysPath, readDevKeys } from './dev-keys.ts';
import { DEFAULT_HOST, DEFAULT_PORT, given, portIn } from './environment.ts';
import { readText } from './input.ts';
import { urlOf } from './serve/port-holder.ts';
import { shortPath } from './short-path.ts';
import { fail, type Trouble, type TroubleIssue } from './trouble.ts';

/** The options of commands that use a server. */
export interface ConnectionOptions {
  readonly url?: string;
  readonly data?: string;
  readonly key?: string;
  readonly adminKey?: string;
  readonly adminKeyFile?: string;
  readonly json?: boolean;
  /** The option that names the server, for messages. Default: --url. */
  readonly serverFlag?: '--server';
}

export function withConnectionOptions(
  command: Command,
  role: KeyRole,
  {
    url = `the URL of the server (default: DRAGOMAN_URL, else http://${DEFAULT_HOST}:${DEFAULT_PORT})`,
    data = `where to read the demo keys (default: ${DEFAULT_DEV_DATA})`,
  } = {},
): Command {
  const { flag, variable } = ROLES[role];
  command.option('--url <url>', url);
  const source = `(default: ${variable}, else the key of a running \`${PROGRAM} dev\`)`;
  if (role === 'agent') command.option(`${flag} <key>`, `the API key ${source}`);
  else withAdminKeyOptions(command, source);
  return command.option('--data <folder>', data, nonEmptyName);
}

/**
 * Adds the options for an admin key. Other users of the machine can see a key on a command line, so it can also be read
 * from a file.
 */
export function withAdminKeyOptions(command: Command, source: string): Command {
  return command
    .option('--admin-key <key>', `the admin key, or - to read it from stdin ${source}`)
    .option('--admin-key-file <file>', 'a file with the admin key');
}

/** The options with the admin key from any of its sources. Warns about a key on the command line. */
export async function withAdminKey<Options extends ConnectionOptions>(
  options: Options,
  context: Context,
): Promise<Options> {
  const { adminKey: given, adminKeyFile: file } = options;
  if (given !== undefined && file !== undefined) {
    fail({ code: 'usage', message: 'give --admin-key or --admin-key-file, not both', exitCode: 2 });
  }
  if (given !== undefined && given !== '-') {
    const warning = { event: 'warning', message: VISIBLE_KEY };
    context.terminal.note(options.json === true ? `${JSON.stringify(warning)}\n` : `warning: ${VISIBLE_KEY}\n`);
    return options;
  }
  const place = file ?? given;
  if (place === undefined) return options;
  const adminKey = (await readText(place, context)).trim();
  if (adminKey === '') fail({ code: 'missing_key', message: `no key in ${place === '-' ? 'stdin' : place}` });
  return { ...options, adminKey };
}

/** A client of a server, with its key. */
export interface ServerConnection {
  readonly client: Client;
  readonly url: string;
  /** For requests that the client has no method for. */
  readonly key: string;
  /** The source of the key, for the error when it is refused. */
  readonly keySource: string;
}

/** The kind of key that a command needs. */
export type KeyRole = keyof typeof ROLES;

/** Connects to a server. URL and key are taken from the options, then the environment, then from `dragoman dev`. */
export async function connect(given: ConnectionOptions, context: Context, role: KeyRole): Promise<ServerConnection> {
  const options = role === 'admin' ? await withAdminKey(given, context) : given;
  const { url, dev } = findServer(options, context);
  const found = findKey({ options, context, role, dev });
  const client = clientFor({ url, ...(found !== undefined && { key: found.key }) });
  // Before the check of the key, so that nobody looks for a key while the server is not running.
  await ensureServer(url, options.serverFlag);
  if (found === undefined) fail(missingKey(role, url));
  return { client, url, key: found.key, keySource: found.source };
}

/** Connects without a key, for callers that sign their requests. */
export async function connectUnkeyed(
  options: ConnectionOptions,
  context: Context,
  { keySource }: Pick<ServerConnection, 'keySource'>,
): Promise<ServerConnection> {
  const { url } = findServer(options, context);
  const client = clientFor({ url });
  await ensureServer(url);
  return { client, url, key: '', keySource };
}

/** Creates the client. It throws for an invalid URL or key, which is a usage error. */
function clientFor(options: { url: string; key?: string }): Client {
  try {
    return createClient(options);
  } catch (error) {
    if (error instanceof DragomanError) fail({ code: 'usage', message: error.message, exitCode: 2 });
    throw error;
  }
}

/**
 * Ends the command if no server answers. Checked without the key: an invalid one is reported better by the command
 * itself.
 */
async function ensureServer(url: string, flag?: string): Promise<void> {
  try {
    await createClient({ url }).health();
  } catch (error) {
    if (!(error instanceof DragomanError)) throw error;
    if (error.code === 'unreachable') fail(unreachableServer(error, url, flag));
    fail({
      code: error.code,
      message: error.message,
      fixes: [`check ${flag ?? '--url'}`, ...connectionFixes(error, url)],
    });
  }
}

/** Whether a command runs in this process, because neither --url nor DRAGOMAN_URL is given. */
export function isHere(
  { url }: Pick<ConnectionOptions, 'url'>,
  { environment }: Pick<Context, 'environment'>,
): boolean {
  return url === undefined && given(environment, 'DRAGOMAN_URL') === undefined;
}

/** The description of `--url`. */
export const ELSEWHERE = 'the server to use (default: DRAGOMAN_URL; if unset, runs locally)';

/** The URL of the server, with the keys of `dragoman dev` if it is that server. */
export function findServer(
  { url: chosen, data }: Pick<ConnectionOptions, 'url' | 'data'>,
  context: Pick<Context, 'environment' | 'folder'>,
): { readonly url: string; readonly dev: (DevKeys & { readonly source: string }) | undefined } {
  const { environment, folder } = context;
  const devData = devDataIn({ data }, context);
  const kept = readDevKeys(devData);
  const dev = kept && { ...kept, source: sourceOf(devData, folder) };
  const [host, port] = [given(environment, 'DRAGOMAN_HOST'), portIn(environment)];
  const fromEnvironment =
    host === undefined && port === undefined
      ? undefined
      : urlOf({ host: host ?? DEFAULT_HOST, port: port ?? DEFAULT_PORT });
  const url =
    chosen ??
    given(environment, 'DRAGOMAN_URL') ??
    fromEnvironment ??
    dev?.url ??
    urlOf({ host: DEFAULT_HOST, port: DEFAULT_PORT });
  // Every command reports an invalid url in the same way.
  clientFor({ url });
  // A key is sent only to the server it belongs to.
  return { url, dev: dev !== undefined && isSameServer(dev.url, url) ? dev : undefined };
}

export function findKey({
  options,
  context: { environment },
  role,
  dev,
}: {
  options: ConnectionOptions;
  context: Pick<Context, 'environment'>;
  role: KeyRole;
  dev: ReturnType<typeof findServer>['dev'];
}): { readonly key: string; readonly source: string } | undefined {
  const { flag, variable, option, devKey } = ROLES[role];
  const chosen = options[option];
  const file = role === 'admin' ? options.adminKeyFile : undefined;
  if (chosen !== undefined) return { key: chosen, source: file === undefined ? flag : `${flag}-file` };
  const set = given(environment, variable);
  if (set !== undefined) return { key: set, source: variable };
  return dev === undefined ? undefined : { key: dev[devKey], source: dev.source };
}

function sourceOf(devData: string, folder: string): string {
  const path = shortPath(folder, devKeysPath(devData));
  return areDevKeysPrivate(devData) ? path : `${path} (others can read it; chmod 600 fixes that)`;
}

/** Runs an action with a server. Its errors end the command with fixes. */
export async function talking<T>(
  connection: ServerConnection,
  role: KeyRole,
  action: () => Promise<T>,
  hints: (error: DragomanError) => readonly string[] = () => [],
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof DragomanError)) throw error;
    const { fixes = [], ...trouble } = serverTrouble(error, connection, role);
    fail({ ...trouble, fixes: [...fixes, ...hints(error)] });
  }
}

function serverTrouble(error: DragomanError, { url, keySource }: ServerConnection, role: KeyRole): Trouble {
  const { message, issues, suggestions, retryAfter } = error;
  if (error.code === 'unreachable') return unreachableServer(error, url);
  if (error.is('unauthenticated')) return wrongKey(role, url, keySource);
  const agents = error.is('no_route') && suggestions.length === 0 ? [`see them all: ${PROGRAM} agents list`] : [];
  const wait = retryAfter === undefined ? [] : [`try again in ${Math.ceil(retryAfter)} s`];
  // The server answers "forbidden" to an agent's key on a route of the administration.
  const roles = role === 'admin' && error.is('forbidden') ? [NOT_AN_ADMIN] : [];
  const fixes = [...suggestions, ...connectionFixes(error, url), ...agents, ...roles, ...wait];
  return {
    code: error.code,
    message,
    issues: issues.map((issue, at) => ({ ...issue, ...operationIn(error, at) })),
    fixes,
  };
}

/** The operation of a workflow that an issue is about; the client keeps it among the details. */
function operationIn({ details }: DragomanError, index: number): Pick<TroubleIssue, 'operationId'> {
  const operationId = valueAt(details, `/issues/${index}/operationId`);
  return typeof operationId === 'string' ? { operationId } : {};
}

/** A fix if another program answers at the URL. */
function connectionFixes({ code }: DragomanError, url: string): string[] {
  return code === 'unexpected_answer' ? [`check what is listening there: ${PROGRAM} doctor --url ${url}`] : [];
}

export function nothingAnswers(url: string, flag = '--url'): Trouble {
  return {
    code: 'unreachable',
    message: `cannot connect to ${url}`,
    fixes: [
      `start it with: ${PROGRAM} serve`,
      `or try the demo: ${PROGRAM} dev`,
      `or specify another server with ${flag}`,
    ],
  };
}

/** The system's error of a failed connection, with a fix. */
function unreachableServer(error: DragomanError, url: string, flag?: string): Trouble {
  const { code, message } = innermost(error);
  if (error.cause === undefined) return { code: 'unreachable', message: error.message, fixes: error.suggestions };
  if (code === 'ECONNREFUSED') return nothingAnswers(url, flag);
  const [, why = message, fix = 'check the url and the network between here and the server'] =
    FAULTS.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  const shown = code === '' || why.includes(code) ? why : `${why} (${code})`;
  return { code: 'unreachable', message: `${url} cannot be reached: ${shown}`, fixes: [fix.replace('URL', url)] };
}

/** The error at the end of the chain of causes. If Node tried several addresses, the error of the first one. */
function innermost(error: Error): { readonly code: string; readonly message: string } {
  let last = error;
  for (let depth = 0; depth < 8; depth++) {
    const next = last instanceof AggregateError ? (last.errors[0] as unknown) : last.cause;
    if (!(next instanceof Error)) break;
    last = next;
  }
  const code = 'code' in last && typeof last.code === 'string' ? last.code : '';
  return { code, message: last.message };
}

/** The meaning and the fix of a system error, by its code or message. */
const FAULTS: readonly (readonly [pattern: RegExp, why: string | undefined, fix: string])[] = [
  [/ALTNAME_INVALID/, undefined, 'use the host name that its TLS certificate is for'],
  [/CERT_HAS_EXPIRED/, 'its TLS certificate has expired', 'renew the certificate of the server'],
  [
    /SELF_SIGNED|UNABLE_TO_|CERT_/,
    'its TLS certificate is not trusted',
    'trust the authority that signed it: NODE_EXTRA_CA_CERTS=FILE.pem',
  ],
  [/WRONG_VERSION|EPROTO|ERR_SSL/, 'it does not speak TLS', 'for a server without TLS, write http:// in the url'],
  [/bad port/, 'HTTP clients refuse to use this port', 'choose another port for the server'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name cannot be resolved', 'check the host name in --url or DRAGOMAN_URL'],
  [
    /HPE_|other side closed|ECONNRESET/,
    'it closed the connection unexpectedly',
    'for a server with TLS, write https:// in the url',
  ],
  [
    /ETIMEDOUT|CONNECT_TIMEOUT/,
    'it did not answer in time',
    'check the url and the network between here and the server',
  ],
];

function missingKey(role: KeyRole, url: string): Trouble {
  const { flag, variable, remedies } = ROLES[role];
  const ofDev = isLoopbackUrl(url)
    ? [`or, for a server of \`${PROGRAM} dev\` in another folder: --data FOLDER/${DEFAULT_DEV_DATA}`]
    : [];
  return {
    code: 'missing_key',
    message: `no key for the server at ${url}`,
    fixes: [`give one with ${flag} KEY, or: export ${variable}=KEY`, ...ofDev, ...remedies],
  };
}

function wrongKey(role: KeyRole, url: string, source: string): Trouble {
  return {
    code: 'unauthenticated',
    message: `the server at ${url} rejected the key from ${source}: it is unknown or revoked`,
    fixes: ROLES[role].remedies,
  };
}

/** How to get a valid key of this kind. */
export function remedyFor(role: KeyRole): string {
  return ROLES[role].remedies[0];
}

/** Whether the URL names this machine. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.has(new URL(url).hostname);
}

/** Whether two URLs have the same origin, or the same port of this machine under different names. */
function isSameServer(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  const bothHere = LOOPBACK.has(one.hostname) && LOOPBACK.has(other.hostname);
  return one.origin === other.origin || (bothHere && one.protocol === other.protocol && one.port === other.port);
}

const VISIBLE_KEY =
  'other users of this machine can see a key on the command line; use --admin-key-file FILE, --admin-key - or DRAGOMAN_ADMIN_KEY';
const NOT_AN_ADMIN =
  'that is the key of an agent; give the admin key with --admin-key KEY, or: export DRAGOMAN_ADMIN_KEY=KEY';
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

const ROLES = {
  agent: {
    flag: '--key',
    option: 'key',
    variable: 'DRAGOMAN_KEY',
    devKey: 'key',
    remedies: [
      `an administrator can create one: ${PROGRAM} keys create --agent AGENT_ID`,
      `or, for a new agent: ${PROGRAM} agents add AGENT_ID --may-call '*'`,
    ],
  },
  admin: {
    flag: '--admin-key',
    option: 'adminKey',
    variable: 'DRAGOMAN_ADMIN_KEY',
    devKey: 'admin_key',
    remedies: [
      `the server showed it on its first start; if it is lost, choose a new one: DRAGOMAN_ADMIN_KEY=KEY ${PROGRAM} serve`,
    ],
  },
} as const;
