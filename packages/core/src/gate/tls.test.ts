import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asking, failureFrom, GateBench, textOf } from './gate.contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) process.stderr.write('TLS tests of the gate skipped: openssl is not installed.\n');

describe.skipIf(!hasOpenssl)('a host with TLS', () => {
  const ca = hasOpenssl ? authority() : '';
  let bench: GateBench;
  beforeEach(() => {
    bench = new GateBench();
  });
  afterEach(() => bench[Symbol.asyncDispose]());

  async function ask({ certificate, trust = [ca], options = {} }: Request): Promise<string> {
    const tls = { key: readFileSync(join(folder, 'key.pem')), cert: certificate, ...options };
    const port = await bench.serve((_, response) => response.end('secure'), tls);
    const resolve = async () => ['127.0.0.1'];
    const gate = bench.gate({ allow: [{ host: 'api.test', port }], resolve, ca: trust });
    return textOf(await gate.request(asking(`https://api.test:${port}/`)));
  }

  test('is trusted by a certificate of the operator', async () => {
    expect(await ask({ certificate: certificate({ name: 'api.test' }) })).toBe('secure');
  });

  test.each([
    ['signed by an unknown authority', { certificate: () => certificate({ name: 'api.test' }), trust: [] }],
    ['of another name', { certificate: () => certificate({ name: 'other.test' }) }],
    ['that is over', { certificate: () => certificate({ name: 'api.test', days: -1 }) }],
    ['that signed itself', { certificate: () => selfSigned() }],
    ['spoken as of old', { certificate: () => certificate({ name: 'api.test' }), options: OLD_TLS }],
  ])('%s is not, whatever the environment says', async (_, { certificate: make, ...rest }) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const failure = await failureFrom(ask({ certificate: make(), ...rest }));
    expect(failure).toMatchObject({ code: 'unreachable', details: { sent: false } });
    expect(failure.message).toMatch(/TLS/);
    vi.unstubAllEnvs();
  });
});

interface Request {
  readonly certificate: string;
  readonly trust?: readonly string[];
  readonly options?: object;
}

const OLD_TLS = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };

function authority(): string {
  openssl('req -x509 -newkey rsa:2048 -nodes -keyout ca-key.pem -out ca.pem -days 2 -subj /CN=authority');
  openssl('req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=host');
  return readFileSync(join(folder, 'ca.pem'), 'utf8');
}

/** Below zero days it is over already. */
function certificate({ name, days = 1 }: { name: string; days?: number }): string {
  writeFileSync(join(folder, 'names.txt'), `subjectAltName=DNS:${name}`);
  openssl(
    `x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days ${days} -extfile names.txt -out host.pem`,
  );
  return readFileSync(join(folder, 'host.pem'), 'utf8');
}

function selfSigned(): string {
  openssl('req -x509 -key key.pem -out self.pem -days 1 -subj /CN=api.test -addext subjectAltName=DNS:api.test');
  return readFileSync(join(folder, 'self.pem'), 'utf8');
}

function openssl(line: string): void {
  const { status, stderr } = spawnSync('openssl', line.split(' '), { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
