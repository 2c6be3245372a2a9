// Everything that can be said of the code without running the server: types, lint, unused code, layers, docs. As many steps
// at once as there are cores; what a step prints is shown only when it fails.
//
//   npm run check
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const CACHE = 'node_modules/.cache';

const cores = Math.max(2, availableParallelism());
/** For what would spread over all cores by doing some of its work in each: two steps run at once. */
const half = Math.floor(cores / 2);

/** Longest first. `after` needs the validators, which are made first. */
const STEPS = [
  { name: 'validators', run: () => import('./generate-validators.ts') },
  { name: 'tests of the repository', run: `vitest run --project repository --maxWorkers ${half}`, after: 'validators' },
  { name: 'unused code', run: 'knip --cache' },
  { name: 'types', run: `tsc -p tsconfig.json --checkers ${half} ${incremental('check')}`, after: 'validators' },
  { name: 'lint', run: 'biome check' },
  { name: 'types without Node', run: `tsc -p packages/protocols ${incremental('protocols')}`, after: 'validators' },
];

mkdirSync(root + CACHE, { recursive: true });
const begun = performance.now();
const ended = new Map<string, Promise<boolean>>();
const free = Array.from({ length: cores }, () => Promise.resolve());
for (const { name, run, after } of STEPS) {
  const slot = await Promise.race(free.map((done, index) => done.then(() => index)));
  const earlier = after === undefined ? undefined : ended.get(after);
  const result = Promise.resolve(earlier).then(() => step(name, run));
  ended.set(name, result);
  free[slot] = result.then(() => {});
}
const results = await Promise.all(ended.values());
console.log(`${seconds(begun)} in all`);
process.exitCode = results.every(Boolean) ? 0 : 1;

async function step(name: string, run: string | (() => Promise<unknown>)): Promise<boolean> {
  const start = performance.now();
  const fault = await (typeof run === 'string' ? faultOf(run) : run().then(none, String));
  console.log(`${fault === undefined ? '✓' : '✗'} ${name} ${seconds(start)}`);
  if (fault !== undefined) console.log(fault);
  return fault === undefined;
}

/** What a command printed that failed. */
function faultOf(command: string): Promise<string | undefined> {
  const child = spawn(command, {
    cwd: root,
    shell: true,
    env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH']}` },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code === 0 ? undefined : printed));
  });
}

function none(): undefined {}

function incremental(name: string): string {
  return `--noEmit --incremental --tsBuildInfoFile ${CACHE}/${name}.tsbuildinfo`;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
