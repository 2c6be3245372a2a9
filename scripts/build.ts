// Builds every package into its dist folder: plain `tsc` output, plus the compiled validators beside it.
//
//   npm run build
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../packages/', import.meta.url));

for (const name of inOrderOfUse(readdirSync(packages))) {
  const folder = packages + name;
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  const { status } = spawnSync('tsc', ['-p', folder], { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  if (existsSync(`${folder}/src/generated`)) {
    cpSync(`${folder}/src/generated`, `${folder}/dist/generated`, { recursive: true });
  }
}

/** Each package after those it uses: their types must be built first. */
function inOrderOfUse(names: readonly string[]): string[] {
  const ordered: string[] = [];
  const add = (name: string): void => {
    if (ordered.includes(name) || !names.includes(name)) return;
    const manifest = JSON.parse(readFileSync(`${packages}${name}/package.json`, 'utf8'));
    for (const used of Object.keys(manifest.dependencies ?? {})) add(used.replace('@dragoman/', ''));
    ordered.push(name);
  };
  for (const name of names) add(name);
  return ordered;
}
