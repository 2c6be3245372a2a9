import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { CANARY_ADDRESSES, CANARY_PORTS } from '../ssrf/canaries.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-ssrf-'));
const program = join(folder, 'attack.mjs');
await build({
  entryPoints: [fileURLToPath(new URL('../ssrf/attack.ts', import.meta.url))],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['dragoman:source'],
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const namespace = newNamespace();
if (namespace === undefined) {
  process.stderr.write('SSRF suite skipped: no network namespace can be made here (unshare and ip are needed).\n');
}

describe.skipIf(namespace === undefined)('in a network of its own, nothing forbidden is reached', () => {
  const { status, stdout, stderr } = spawnSync(namespace?.[0] ?? '', [...(namespace?.slice(1) ?? []), SETUP()], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HTTPS_PROXY: 'http://127.0.0.1:80', HTTP_PROXY: 'http://127.0.0.1:80' },
  });
  if (status !== 0) throw new Error(`the attack did not run: ${stderr}${stdout}`);
  const report = JSON.parse(stdout);

  test('although every canary can be reached without the gate', () => {
    expect(report.canaries).toBe(CANARY_ADDRESSES.length * CANARY_PORTS.length);
  });

  test.each([
    // Five ways in for each of more than a thousand hosts.
    ['spellings', 5500],
    ['names', 100],
    ['answers', 400],
    ['rebinding', 200],
    ['redirects', 360],
  ])('by %s: every attempt is refused, and at least %i were made', (kind, least) => {
    const { tried, refused, wrong } = report[kind];
    expect(wrong).toEqual([]);
    expect(refused).toBe(tried);
    expect(tried).toBeGreaterThanOrEqual(least);
  });

  test('and no canary was hit', () => {
    expect(report.hits).toEqual([]);
  });
});

test('outside of such a network it refuses to run', () => {
  const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  // Where this test runs in one itself, there is nothing to refuse.
  if (status !== 0) expect([status, stderr]).toEqual([3, expect.stringContaining('network namespace of its own')]);
});

/** How to run a shell in a new one, if at all. */
function newNamespace(): string[] | undefined {
  return [
    ['unshare', '-rn', 'sh', '-ec'],
    ['unshare', '-n', 'sh', '-ec'],
  ].find(([command = '', ...args]) => spawnSync(command, [...args, 'ip link set lo up']).status === 0);
}

function SETUP(): string {
  const addresses = CANARY_ADDRESSES.filter((address) => address !== '127.0.0.1' && address !== '::1');
  const added = addresses.map((address) => `ip addr add ${address}/${address.includes(':') ? '128 nodad' : 32} dev lo`);
  return ['ip link set lo up', ...added, `exec '${process.execPath}' '${program}'`].join('\n');
}
