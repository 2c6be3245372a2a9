// Builds every package into its dist folder: plain `tsc` output, plus the compiled validators beside it. A package whose
// sources, and those it uses, are as they were is left as it is.
//
//   npm run build
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** Outside of `dist`, which is published. */
const STAMPS = fileURLToPath(new URL('../node_modules/.cache/dragoman-build/', import.meta.url));

mkdirSync(STAMPS, { recursive: true });
// Over all packages so far: a change in one builds those after it, too.
const digest = createHash('sha256').update(readFileSync(new URL('../tsconfig.base.json', import.meta.url)));
for (const name of packagesInOrderOfUse()) {
  const folder = PACKAGES + name;
  for (const file of sourcesOf(folder))
    digest
      .update(file)
      .update('\0')
      .update(readFileSync(`${folder}/${file}`));
  const stamp = digest.copy().digest('hex');
  const stampFile = `${STAMPS}${name}`;
  const isBuilt = existsSync(`${folder}/dist`) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (!isBuilt) build(folder);
  writeFileSync(stampFile, stamp);
}

function build(folder: string): void {
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  const { status } = spawnSync('tsc', ['-p', folder], { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  if (existsSync(`${folder}/src/generated`)) {
    cpSync(`${folder}/src/generated`, `${folder}/dist/generated`, { recursive: true });
  }
}

function sourcesOf(folder: string): string[] {
  const { rootDir } = JSON.parse(readFileSync(`${folder}/tsconfig.json`, 'utf8')).compilerOptions;
  const sources = readdirSync(`${folder}/${rootDir}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !/\.(?:test|contract)\.ts$/.test(file))
    .map((file) => `${rootDir}/${file}`);
  return ['package.json', 'tsconfig.json', ...sources.sort()];
}
