// Builds and packs every package, and checks everything that a publication needs. It lists all problems.
//
//   npm run release -- --dry-run    checks, and publishes nothing
//   npm run release                 publishes if there are no problems
//
// The addresses of the project are placeholders (`PLACEHOLDER`) until it has real ones. They stand in `homepage`, `repository` and
// `bugs` of packages/*/package.json, and nowhere else; a dry run reports them, and a release is refused while they are there.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLACEHOLDER, Publication } from './publication.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const isDryRun = process.argv.includes('--dry-run');
const folder = mkdtempSync(join(tmpdir(), 'dragoman-release-'));

try {
  for (const script of ['generate:validators', 'build']) {
    execFileSync('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const publication = new Publication(folder);
  const { names, version } = publication;
  const problems = await publication.problems();
  const notes: string[] = [];
  const placeholders = publication.placeholders();
  if (placeholders.length > 0) {
    notes.push(`homepage, repository and bugs are placeholders (${PLACEHOLDER}) in ${placeholders.join(', ')}`);
  }
  if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`## ${version}`)) {
    notes.push(`CHANGELOG.md has no section ## ${version}`);
  }
  // A dry run may come before these are done; a release may not.
  if (!isDryRun) problems.push(...notes.splice(0));
  for (const problem of problems) console.error(`error  ${problem}`);
  for (const note of notes) console.error(`note   ${note}`);
  if (problems.length > 0) process.exitCode = 1;
  else if (isDryRun) console.log(`ok     ${names.length} packages of version ${version} can be published`);
  else {
    for (const name of names) {
      execFileSync('npm', ['publish', publication.tarball(name), '--access', 'public'], {
        cwd: root,
        stdio: 'inherit',
      });
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
