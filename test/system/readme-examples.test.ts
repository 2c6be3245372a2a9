import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Served } from './served.ts';

// The TypeScript of each package's README: compiled strictly, and run against a real server.

const root = fileURLToPath(new URL('../..', import.meta.url));
mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
/** Inside of the repository, so that its packages are found as after an installation. */
const folder = mkdtempSync(join(root, 'node_modules/.cache/readme-'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
writeFileSync(join(folder, 'echo.mjs'), 'export default async function* ({ params }) { yield params.content; }\n');

writeFileSync(
  join(folder, 'tools.mjs'),
  `export const add = { name: 'add', input: { type: 'object' }, run: ({ a, b }) => ({ sum: a + b }) };`,
);

/** The expected output of each block; a block that is not here fails the test. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  'a2a-messages-schemas-1': /^false \[/,
  'client-1': /^text Hello, agent!\n$/m,
  'client-2': /^No such agent\./,
  'client-3': /\[ 'one', 'two', 'three' \]/,
  'client-4': /add[\s\S]*sum: 3/,
  'core-1': /delta: 'hello'/,
  'core-2': /^$/,
  'protocols-1': /did you mean/,
  'server-1': /admin key, shown once: dgm_\S+\nhttp:\/\/127\.0\.0\.1:\d+\n/,
};

const blocks = readdirSync(join(root, 'packages')).flatMap((name) => {
  const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
  return [...text.matchAll(/^```(?:ts|js)\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => {
    const block = `${name}-${index + 1}`;
    writeFileSync(join(folder, `${block}.ts`), code.includes('export ') ? code : `${code}export {};\n`);
    return block;
  });
});

let served: Served;
let key = '';
beforeAll(async () => {
  served = await Served.start(() => ({
    port: 0,
    default_agent: 'echo',
    agents: { echo: { driver: 'module', module: join(folder, 'echo.mjs') } },
    tools: [join(folder, 'tools.mjs')],
  }));
  key = await served.caller('reader');
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('every example compiles, with exactOptionalPropertyTypes and every other strict option', () => {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
  const modules = { module: 'nodenext', target: 'es2023', customConditions: ['dragoman:source'], skipLibCheck: true };
  const compilerOptions = { ...strict, ...modules, allowImportingTsExtensions: true, types: ['node'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
}, 120_000);

describe.each(blocks)('the example %s', (block) => {
  test('works as its page says', async () => {
    const printed = PRINTS[block];
    if (printed === undefined) throw new Error(`say in PRINTS what ${block} prints`);
    const args = ['--conditions=dragoman:source', '--import', 'tsx', join(folder, `${block}.ts`)];
    const env = { PATH: process.env['PATH'] ?? '', DRAGOMAN_URL: served.url, DRAGOMAN_KEY: key };
    const child = spawn(process.execPath, args, { cwd: folder, env });
    let text = '';
    let isStopped = false;
    const hear = (chunk: string) => {
      text += chunk;
      // It serves until it is stopped, once: a second signal ends it at once.
      if (block !== 'server-1' || isStopped || !printed.test(text)) return;
      isStopped = true;
      child.kill('SIGTERM');
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ text, code }).toEqual({ text: expect.stringMatching(printed), code: 0 });
  }, 60_000);
});
