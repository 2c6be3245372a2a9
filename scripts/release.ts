// Builds and packs every package, and checks everything that a publication needs. What is wrong is listed, all of it.
//
//   npm run release -- --dry-run    checks, and publishes nothing
//   npm run release                 publishes, where nothing is wrong
//
// The addresses of the project are placeholders (`PLACEHOLDER`) until it has real ones. They stand in `homepage`, `repository` and
// `bugs` of packages/*/package.json, and nowhere else; a dry run reports them, and a release is refused while they are there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** A name that RFC 2606 keeps for examples. */
const PLACEHOLDER = 'dragoman.example';
const root = fileURLToPath(new URL('..', import.meta.url));
const isDryRun = process.argv.includes('--dry-run');
const folder = mkdtempSync(join(tmpdir(), 'dragoman-release-'));
const problems: string[] = [];
const names = packagesInOrderOfUse();
const version = manifestOf(root).version;

try {
  run('npm', ['run', '--silent', 'build']);
  run('npm', ['pack', '--workspaces', '--silent', '--pack-destination', folder]);
  checkChangelog();
  checkLock();
  for (const name of names) await checkPackage(name);
  checkInstallation();
  for (const problem of problems) console.error(`not  ${problem}`);
  const placeholders = names.filter((name) => hasPlaceholder(manifestOf(`${PACKAGES}${name}`)));
  if (placeholders.length > 0) {
    console.error(`note homepage, repository and bugs are placeholders (${PLACEHOLDER}) in ${placeholders.join(', ')}`);
  }
  if (problems.length > 0) process.exitCode = 1;
  else if (isDryRun) console.log(`ok   ${names.length} packages of version ${version} could be published`);
  else if (placeholders.length > 0) process.exitCode = 1;
  else for (const name of names) run('npm', ['publish', tarballOf(name), '--access', 'public']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Manifest {
  readonly version: string;
  readonly homepage?: string;
  readonly repository?: { readonly url?: string; readonly directory?: string };
  readonly bugs?: { readonly url?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

async function checkPackage(name: string): Promise<void> {
  const manifest = manifestOf(`${PACKAGES}${name}`);
  const wrong = (what: string) => problems.push(`${name}: ${what}`);
  for (const field of ['description', 'license', 'homepage', 'repository', 'bugs', 'engines', 'files', 'exports']) {
    if (manifest[field] === undefined && !(field === 'exports' && name === 'cli'))
      wrong(`package.json has no ${field}`);
  }
  if (manifest.version !== version) wrong(`its version is ${manifest.version}, not ${version}`);
  if (manifest.repository?.directory !== `packages/${name}`) wrong(`repository.directory is not packages/${name}`);
  for (const [used, wanted] of Object.entries(manifest.dependencies ?? {})) {
    if (!/^\d+\.\d+\.\d+$/.test(wanted)) wrong(`${used} is not pinned: ${wanted}`);
    if (used.startsWith('@dragoman/') && wanted !== version) wrong(`it uses ${used} ${wanted}, not ${version}`);
  }
  const files = run('tar', ['-tzf', tarballOf(name)]).split('\n');
  for (const needed of ['package.json', 'README.md', 'LICENSE']) {
    if (!files.includes(`package/${needed}`)) wrong(`${needed} is not packed`);
  }
  if (!files.some((file) => file.startsWith('package/dist/'))) wrong('dist is not packed');
  const ours = files.filter((file) => /\.test\.|\.contract\.|^package\/src\/|tsbuildinfo|__pycache__/.test(file));
  if (ours.length > 0) wrong(`files of ours are packed: ${ours.slice(0, 3).join(', ')}`);
  const { messages, pkg } = await publint({ pkgDir: `${PACKAGES}${name}`, pack: false, strict: true });
  // The condition is for this repository alone, whose sources are not published.
  for (const message of messages.filter(({ path }) => !path.includes('dragoman:source'))) {
    wrong(String(formatMessage(message, pkg ?? {})));
  }
}

/** What users read of a version has its number above it, and nothing is left under *Pending*; a dry run may come before that. */
function checkChangelog(): void {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!isDryRun && !text.includes(`## ${version}`)) problems.push(`CHANGELOG.md has no section ## ${version}`);
}

/** A lock file that names a registry would send every installation there. */
function checkLock(): void {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (text.includes('"resolved": "http')) problems.push('package-lock.json names download addresses');
}

/** The packed command in a project of its own: with the packed packages, and what this repository has installed of others. */
function checkInstallation(): void {
  const modules = join(folder, 'node_modules');
  for (const name of names) {
    mkdirSync(join(modules, '@dragoman', name), { recursive: true });
    run('tar', ['-xzf', tarballOf(name), '-C', join(modules, '@dragoman', name), '--strip-components=1']);
  }
  for (const entry of readdirSync(join(root, 'node_modules'))) {
    if (!entry.startsWith('.') && entry !== '@dragoman') {
      symlinkSync(join(root, 'node_modules', entry), join(modules, entry));
    }
  }
  const command = join(modules, '@dragoman/cli/bin/dragoman.js');
  const { stdout, stderr } = spawnSync(process.execPath, [command, '--version'], { cwd: folder, encoding: 'utf8' });
  if (stdout.trim() !== version) problems.push(`the packed command does not run: ${stderr.slice(0, 300)}`);
}

function hasPlaceholder({ homepage = '', repository, bugs }: Manifest): boolean {
  return [homepage, repository?.url ?? '', bugs?.url ?? ''].some((address) => address.includes(PLACEHOLDER));
}

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

function tarballOf(name: string): string {
  return join(folder, `dragoman-${name}-${version}.tgz`);
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr.slice(-2000)}`);
  return stdout;
}
