// Builds every package into its dist folder: plain `tsc` output, plus the compiled validators beside it.
//
//   npm run build
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

for (const name of packagesInOrderOfUse()) {
  const folder = PACKAGES + name;
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  const { status } = spawnSync('tsc', ['-p', folder], { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  if (existsSync(`${folder}/src/generated`)) {
    cpSync(`${folder}/src/generated`, `${folder}/dist/generated`, { recursive: true });
  }
}
