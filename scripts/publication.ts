import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publishedPackages } from './packages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The packages as npm would install them: packed into `folder`, unpacked into its `node_modules`. */
export class Publication {
  readonly version: string = read(join(ROOT, 'package.json')).version;
  readonly names: readonly string[] = publishedPackages();
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    const workspaces = this.names.flatMap((name) => ['--workspace', `packages/${name}`]);
    execFileSync('npm', ['pack', ...workspaces, '--silent', '--pack-destination', folder], { cwd: ROOT });
    mkdirSync(join(folder, 'node_modules/@dragoman'), { recursive: true });
    for (const entry of readdirSync(join(ROOT, 'node_modules'))) {
      if (entry.startsWith('.') || entry === '@dragoman') continue;
      symlinkSync(join(ROOT, 'node_modules', entry), join(folder, 'node_modules', entry));
    }
    for (const name of this.names) {
      mkdirSync(this.installed(name));
      execFileSync('tar', ['-xzf', this.tarball(name), '-C', this.installed(name), '--strip-components=1']);
    }
  }

  tarball(name: string): string {
    return join(this.folder, `dragoman-${name}-${this.version}.tgz`);
  }

  installed(name: string): string {
    return join(this.folder, 'node_modules/@dragoman', name);
  }

  /** Everything that is wrong with the packed packages; empty if they can be published. */
  async problems(): Promise<string[]> {
    const found: string[] = [];
    for (const name of this.names) {
      for (const problem of await this.#packageProblems(name)) found.push(`${name}: ${problem}`);
    }
    return [...found, ...this.#commandProblems(), ...this.#aloneProblems(), ...lockProblems()];
  }

  /** The packages whose addresses are placeholders. */
  placeholders(): string[] {
    return this.names.filter((name) => {
      const { homepage, repository, bugs } = read(join(this.installed(name), 'package.json'));
      return [homepage, repository?.url, bugs?.url].some((address) => address?.includes(PLACEHOLDER));
    });
  }

  async #packageProblems(name: string): Promise<string[]> {
    const folder = this.installed(name);
    const manifest = read(join(folder, 'package.json'));
    const whole = read(join(ROOT, 'package.json'));
    const found: string[] = [];
    for (const field of ['description', 'homepage', 'repository', 'bugs', 'files']) {
      if (manifest[field] === undefined) found.push(`package.json has no "${field}"`);
    }
    if (manifest.exports === undefined && manifest.bin === undefined) {
      found.push('package.json has neither "exports" nor "bin"');
    }
    for (const field of ['version', 'license', 'engines']) {
      const [own, expected] = [manifest[field], whole[field]].map((value) => JSON.stringify(value));
      if (own !== expected) found.push(`"${field}" is ${own}; the root package.json has ${expected}`);
    }
    if (manifest.repository?.directory !== `packages/${name}`) {
      found.push(`"repository.directory" is not packages/${name}`);
    }
    for (const [used, wanted] of Object.entries<string>({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    })) {
      if (!/^\d+\.\d+\.\d+$/.test(wanted)) found.push(`${used} is not pinned: ${wanted}`);
      if (!used.startsWith('@dragoman/')) continue;
      if (wanted !== this.version) found.push(`it depends on ${used} ${wanted}, not ${this.version}`);
      if (!this.names.includes(used.replace('@dragoman/', ''))) found.push(`it depends on ${used}, which is private`);
    }
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const needed of ['README.md', 'LICENSE', 'dist']) {
      if (!files.includes(needed)) found.push(`${needed} is not packed`);
    }
    if (files.includes('schemas') !== existsSync(join(ROOT, 'packages', name, 'schemas'))) {
      found.push('the folder schemas is not packed as it is in the repository');
    }
    const internal = files.filter((file) => INTERNAL.test(file));
    if (internal.length > 0) found.push(`files that are not for users are packed: ${internal.slice(0, 3).join(', ')}`);
    const { messages, pkg } = await publint({ pkgDir: folder, pack: false, strict: true });
    // The condition is for this repository alone, whose sources are not published.
    const faults = messages.filter(({ path }) => !path.includes('dragoman:source'));
    return [...found, ...faults.map((message) => String(formatMessage(message, pkg ?? {})))];
  }

  #commandProblems(): string[] {
    const command = join(this.installed('cli'), 'bin/dragoman.js');
    const { stdout, stderr } = spawnSync(process.execPath, [command, '--version'], { encoding: 'utf8' });
    return stdout.trim() === this.version ? [] : [`cli: the packed command does not run: ${stderr.slice(0, 500)}`];
  }

  /** A package without dependencies is installed by npm in an empty project, without a network, and loaded there. */
  #aloneProblems(): string[] {
    return this.names.flatMap((name) => {
      const { dependencies = {} } = read(join(this.installed(name), 'package.json'));
      if (Object.keys(dependencies).length > 0) return [];
      const project = join(this.folder, `alone-${name}`);
      mkdirSync(project, { recursive: true });
      writeFileSync(join(project, 'package.json'), '{"name":"alone","type":"module"}');
      const load = `await import('@dragoman/${name}')`;
      for (const [command, args] of [
        ['npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', this.tarball(name)]],
        [process.execPath, ['--input-type=module', '-e', load]],
      ] as const) {
        const { status, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8' });
        if (status !== 0) return [`${name}: cannot be used in an empty project: ${stderr.slice(0, 500)}`];
      }
      return [];
    });
  }
}

/** A lock file that names a registry would send every installation there. */
function lockProblems(): string[] {
  const text = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  return text.includes('"resolved": "http') ? ['package-lock.json names download addresses'] : [];
}

function read(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** A name that RFC 2606 reserves for examples. */
export const PLACEHOLDER = 'dragoman.example';

const INTERNAL = /\.test\.|\.contract\.|fixtures|^src\/|\.tsbuildinfo|__pycache__/;
