import { readFileSync } from 'node:fs';
import { type ConnectionOptions, rootCertificates } from 'node:tls';
import { StoreError } from '../store-error.ts';

/** Where the database is, and how to sign in. */
export interface PostgresAddress {
  /** In the order they are tried. A path is the folder of a Unix socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** The schema that contains all tables of this server. Default: `dragoman`. */
  readonly schema: string;
  readonly ssl: boolean | ConnectionOptions;
}

/** `postgres://user@host1:5432,host2/database?schema=dragoman&sslmode=verify-full`. Throws a `StoreError` that names the mistake. */
export function readPostgresUrl(text: string, environment: NodeJS.ProcessEnv = process.env): PostgresAddress {
  const match = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(text);
  if (match === null) throw invalid('it must look like postgres://user@host:5432/database?schema=dragoman');
  const [, user = '', password, hostList = '', database = '', query = ''] = match;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) throw invalid(`"${name}" is not a parameter; known are ${PARAMETERS.join(', ')}`);
  }
  const schema = parameters.get('schema') ?? 'dragoman';
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw invalid(`schema must be lower case letters, digits and "_", and is "${schema}"`);
  }
  const named = user === '' ? (environment['PGUSER'] ?? '') : decoded(user);
  if (named === '') throw invalid('the user is missing: write postgres://USER@host/database, or set PGUSER');
  const name = decoded(database);
  if (name === '') throw invalid('the database is missing: write postgres://user@host/DATABASE');
  const socket = parameters.get('host');
  const port = portOf(/:(\d+)$/.exec(hostList)?.[1] ?? '');
  const hosts = socket === null ? hostList.split(',').map(hostOf) : [{ host: socket, port }];
  const isLocal = hosts.every(({ host }) => host.startsWith('/') || LOCAL.includes(host));
  return {
    hosts,
    user: named,
    password: password === undefined ? environment['PGPASSWORD'] : decoded(password),
    database: name,
    schema,
    ssl: tlsOf(parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full'), parameters.get('sslrootcert')),
  };
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

/** Removes the password from a URL. */
export function shownPostgresUrl(text: string): string {
  return text.replace(/^(postgres(?:ql)?:\/\/[^:@/?]*):[^@/?]*@/, '$1@');
}

function hostOf(text: string): { host: string; port: number } {
  const match = /^(\[[^\]]+\]|[^:]*)(?::(\d+))?$/.exec(text);
  if (match === null) throw invalid(`"${text}" is not a host with an optional port`);
  const host = decoded(match[1] ?? '').replace(/^\[(.*)\]$/, '$1');
  return { host: host === '' ? 'localhost' : host, port: portOf(match[2] ?? '') };
}

function portOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : DEFAULT_PORT;
}

/** Default: `verify-full`, and `disable` on this machine. `require` encrypts without verifying the server. */
function tlsOf(mode: string, certificates: string | null): boolean | ConnectionOptions {
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  if (mode !== 'verify-full') {
    throw invalid(`sslmode must be disable, require or verify-full, and is "${mode}"`);
  }
  return certificates === null ? { ca: [...rootCertificates] } : { ca: readFileSync(certificates, 'utf8') };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(`"${text}" has a "%" that is not followed by two hexadecimal digits`);
  }
}

function invalid(why: string): StoreError {
  return new StoreError('store_unreachable', `The store's URL is invalid: ${why}.`);
}

const DEFAULT_PORT = 5432;
const LOCAL = ['localhost', '127.0.0.1', '::1'];
const PARAMETERS = ['schema', 'sslmode', 'sslrootcert', 'host'];
