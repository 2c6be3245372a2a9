import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { negotiate, SchemaValidator } from '../packages/a2a-messages-schemas/typescript/index.ts';
import type { AgentCard } from '../packages/a2a-messages-schemas/typescript/types.ts';
import type { Json } from '../packages/protocols/src/json.ts';
import { loadFixtures } from '../scripts/conformance.ts';
import { SCHEMA_PACKAGE, schemaPackageFiles } from '../scripts/schema-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, SCHEMA_PACKAGE);
const python = join(folder, 'python');

test('the package of the A2A schemas is what the declared shapes make it (else: npm run generate:schemas)', async () => {
  const expected = await schemaPackageFiles();
  for (const [path, text] of expected) expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  const written = [folder, join(python, 'a2a_messages_schemas/schemas')].flatMap((place) =>
    readdirSync(place).filter((name) => name.endsWith('.json') && !BY_HAND.has(name)),
  );
  expect(written).toHaveLength([...expected.keys()].filter((path) => path.endsWith('.json')).length);
});

test('it has the version of everything else, in both languages', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version).toBe(version);
  expect(readFileSync(join(python, 'pyproject.toml'), 'utf8')).toContain(`\nversion = "${version}"\n`);
});

test('its changes and its table of versions speak of the version there is', () => {
  const { version, supported_protocols: protocols } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${version}\n`);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`| ${version} | ${protocols.at(-1)} |`);
});

test('the TypeScript validator keeps the cases', () => {
  const validator = new SchemaValidator();
  for (const { name, input, options } of loadFixtures('a2a-messages', 'accept')) {
    if (options === undefined) expect(validator.validate(input), name).toMatchObject({ valid: true, errors: [] });
  }
  for (const { name, input, options } of loadFixtures('a2a-messages', 'reject')) {
    if (options !== undefined) continue;
    const { valid, errors } = validator.validate(input);
    expect([valid, errors.length > 0], name).toEqual([false, true]);
  }
});

test('the TypeScript validator checks freshness only when the time is given', () => {
  const [fixture] = loadFixtures('a2a-messages', 'accept').filter(({ name }) => name === 'spec-example-request');
  const sent = Date.parse('2025-12-09T15:30:00.000Z');
  const at = (ms: number) => new SchemaValidator().validate(fixture?.input as Json, new Date(sent + ms));
  expect(at(300_000).valid).toBe(true);
  expect(at(300_001)).toMatchObject({ valid: false, errors: [expect.stringContaining('/timestamp: ')] });
});

test('cards agree on the highest version both name', () => {
  const cases = loadFixtures<{ protocol: string; schema_version: string } | null>('a2a-messages', 'negotiate');
  expect(cases.length).toBeGreaterThan(5);
  for (const { name, input, expect: expected } of cases) {
    const { ours, theirs } = input as unknown as { ours: AgentCard; theirs: AgentCard };
    const agreed = negotiate(ours, theirs);
    const found = agreed.ok ? { protocol: agreed.protocol, schema_version: agreed.schemaVersion } : null;
    expect(found, name).toEqual(expected);
  }
});

const PROBE = `
import sys, pydantic, jsonschema, referencing
if sys.version_info < (3, 10): print("Python 3.10 is needed, this is " + sys.version.split()[0])
elif not pydantic.VERSION.startswith("2."): print("Pydantic 2 is needed, this is " + pydantic.VERSION)
`;
const missing = whatPythonLacks();
if (missing !== undefined) console.warn(`The Python package of the A2A schemas was NOT tested: ${missing}.`);

test.skipIf(missing !== undefined)(
  `the Python package keeps the cases${missing ? ` (NOT RUN: ${missing})` : ''}`,
  () => {
    const { status, stderr } = runPython(['-m', 'unittest', 'discover', '-s', 'tests']);
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/Ran [1-9]\d* tests/);
  },
);

/** Why the Python package cannot be tested here; `undefined` when it can. */
function whatPythonLacks(): string | undefined {
  const { error, status, stdout, stderr } = runPython(['-c', PROBE]);
  if (error !== undefined) return 'there is no python3';
  if (status !== 0) return stderr.trim().split('\n').at(-1) ?? 'python3 cannot load what it needs';
  return stdout.trim() === '' ? undefined : stdout.trim();
}

function runPython(args: readonly string[]) {
  return spawnSync('python3', args, {
    cwd: python,
    encoding: 'utf8',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: python },
  });
}

const BY_HAND: ReadonlySet<string> = new Set(['package.json', 'tsconfig.json']);
