import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../test-support/postgres-server.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { startTransactionPooler } from '../../../test-support/transaction-pooler.ts';
import { dial } from './connection.ts';
import { connectPostgresStore } from './postgres-store.ts';
import { readPostgresUrl } from './postgres-url.ts';

// A database that is not set up as it must be, and the several ways to reach one that is.

let server: PostgresServer;
let port: number;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-tls-'));

beforeAll(async () => {
  port = await freePort();
  server = await startPostgres({ isDurable: true, port });
  makeCertificate();
  server.put('server.crt', readFileSync(join(folder, 'server.pem'), 'utf8'));
  server.put('server.key', readFileSync(join(folder, 'server.key'), 'utf8'));
  server.put('pg_hba.conf', HBA);
  await server.restart(OVER_TCP);
  const admin = await dial(readPostgresUrl(server.url('public')), () => {});
  for (const text of [
    "CREATE ROLE locked LOGIN PASSWORD 'right'",
    'CREATE ROLE poor LOGIN',
    'CREATE ROLE tls_only LOGIN',
    "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0",
  ])
    await admin.script(text);
  await admin.close();
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Of a role, over TCP. */
const over = (user: string, parameters = '', database = 'postgres', host = `127.0.0.1:${port}`) =>
  `postgres://${user}@${host}/${database}?schema=setup${parameters}`;

const refusal = (url: string) => expect(connectPostgresStore({ url })).rejects;

describe('a server that', () => {
  test('refuses the password reports it, and accepts the right one from the URL or the environment', async () => {
    await refusal(over('locked')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('asks for a password for the user "locked"'),
    });
    await refusal(over('locked:wrong')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringMatching(/refused the user "locked".*PGPASSWORD/),
    });
    process.env['PGPASSWORD'] = 'right';
    try {
      await refusal(over('locked')).toMatchObject({
        message: expect.stringContaining('GRANT CREATE ON DATABASE postgres'),
      });
    } finally {
      delete process.env['PGPASSWORD'];
    }
  });

  test('gives a user too few rights names the right that is missing', async () => {
    await refusal(over('poor')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('CREATE SCHEMA "setup" AUTHORIZATION poor'),
    });
  });

  test('has another encoding is refused', async () => {
    await refusal(over('dragoman', '', 'latin')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining("the encoding LATIN1. Create one with ENCODING 'UTF8'"),
    });
  });

  test('is a connection pooler in transaction mode is refused, with what to do instead', async () => {
    const { port: pooled, server: pooler } = await startTransactionPooler(join(server.folder, `.s.PGSQL.${port}`));
    try {
      await refusal(over('dragoman', '&sslmode=disable', 'postgres', `127.0.0.1:${pooled}`)).toMatchObject({
        code: 'store_unreachable',
        message: expect.stringContaining('connection pooler in transaction mode'),
      });
    } finally {
      pooler.close();
    }
  });
});

describe('several hosts', () => {
  test('are tried in order, and the one that takes writes is used', async () => {
    const closed = await freePort();
    await using store = await connectPostgresStore({
      url: over('dragoman', '', 'postgres', `127.0.0.1:${closed},127.0.0.1:${port}`),
    });
    expect(await store.keys.list()).toEqual([]);
    expect((await store.stats()).driver).toMatch(/^postgres \d/);
  });

  test('of which none answers are all named', async () => {
    const [one, other] = [await freePort(), await freePort()];
    await refusal(over('dragoman', '', 'postgres', `127.0.0.1:${one},127.0.0.1:${other}`)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${one}.*127\\.0\\.0\\.1:${other}`)),
    });
  });
});

describe('TLS', () => {
  const trusting = () => `&sslrootcert=${encodeURIComponent(join(folder, 'ca.pem'))}`;
  const isEncrypted = async (url: string) => {
    const connection = await dial(readPostgresUrl(url), () => {});
    try {
      const { rows } = await connection.script('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return (rows[0] as { ssl: boolean }).ssl;
    } finally {
      await connection.close();
    }
  };

  test('is used as the URL says, and checked against the certificates it names', async () => {
    expect(await isEncrypted(over('dragoman'))).toBe(false);
    expect(await isEncrypted(over('dragoman', '&sslmode=require'))).toBe(true);
    expect(
      await isEncrypted(over('dragoman', `&sslmode=verify-full${trusting()}`, 'postgres', `localhost:${port}`)),
    ).toBe(true);
    await using store = await connectPostgresStore({
      url: over('dragoman', `&sslmode=verify-full${trusting()}`, 'postgres', `localhost:${port}`),
    });
    expect(await store.keys.list()).toEqual([]);
  });

  test('with an untrusted certificate, or one of another host, is refused', async () => {
    await refusal(over('dragoman', '&sslmode=verify-full', 'postgres', `localhost:${port}`)).toMatchObject({
      message: expect.stringContaining('unable to verify the first certificate'),
    });
    await refusal(over('dragoman', `&sslmode=verify-full${trusting()}`)).toMatchObject({
      message: expect.stringContaining("does not match certificate's altnames"),
    });
  });

  test('where the server demands it and the URL does not is explained by the server', async () => {
    await refusal(over('tls_only', '&sslmode=disable')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining('no encryption'),
    });
  });
});

describe('durability that is turned off', () => {
  afterEach(() => server.restart(OVER_TCP));

  test.each([
    ['fsync = off', 'fsync is off, so a power failure destroys the database. Set it to on.'],
    ['synchronous_commit = off', 'synchronous_commit is off, so a crash of PostgreSQL loses what was acknowledged.'],
  ])('by %s is refused', async (setting, message) => {
    await server.restart([...OVER_TCP, setting]);
    await refusal(over('dragoman')).toMatchObject({
      code: 'store_unreachable',
      message: expect.stringContaining(message),
    });
  });

  test('on purpose, for tests, is a warning', async () => {
    await server.restart([...OVER_TCP, 'fsync = off']);
    process.env['DRAGOMAN_ALLOW_FSYNC_OFF'] = '1';
    const log = new SilentLog();
    try {
      await using _ = await connectPostgresStore({ url: over('dragoman'), log });
      expect(log.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('fsync off') }]);
    } finally {
      delete process.env['DRAGOMAN_ALLOW_FSYNC_OFF'];
    }
  });
});

// The last one: there is no way back.
test('a standby, which can only be read, is refused as such', async () => {
  server.put('standby.signal', '');
  await server.restart(OVER_TCP);
  await refusal(over('dragoman')).toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining(`127.0.0.1:${port}: it is a standby, which takes no writes`),
  });
});

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port: free } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return free;
}

/** An authority, and a certificate of it for `localhost`. */
function makeCertificate(): void {
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=ca',
    '-addext',
    'basicConstraints=critical,CA:TRUE',
  );
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    'server.pem',
    '-days',
    '2',
    '-extfile',
    'names',
  );
}

const OVER_TCP = [
  "listen_addresses = 'localhost, 127.0.0.1'",
  'ssl = on',
  "ssl_cert_file = 'server.crt'",
  "ssl_key_file = 'server.key'",
];
const HBA = `
host all locked all scram-sha-256
hostssl all tls_only all trust
hostnossl all tls_only all reject
local all all trust
host all all all trust
`;
