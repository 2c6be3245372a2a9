import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { builtProgram } from '../../core/test-support/built-program.ts';

/** The file of the `dragoman` command as its source is now, with the modules of its demo. */
export function dragomanFile(): string {
  const demo = new URL('../src/demo/', import.meta.url);
  const modules = readdirSync(demo).filter((name) => name.endsWith('.mjs'));
  return builtProgram(new URL('../src/main-entry.ts', import.meta.url), {
    beside: modules.map((name) => new URL(name, demo)),
  });
}

/** The `dragoman` command as its own process, run from source without a build. */
export class DragomanProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], { folder, environment = {}, stdin }: ProcessOptions) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DRAGOMAN_'));
    this.#child = spawn(process.execPath, [dragomanFile(), ...args], {
      cwd: folder,
      env: { ...Object.fromEntries(inherited), ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#child.stdin?.end(stdin ?? '');
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('close', resolve);
      this.#child.once('error', reject);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until the pattern stands on stdout, or on stderr. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const giveUp = Date.now() + 45_000;
    for (;;) {
      const found = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (found !== null) return found;
      const ended = await Promise.race([this.#ended.then(() => true), pause(20)]);
      if (ended === true || Date.now() > giveUp) {
        const last = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
        if (last !== null) return last;
        throw new Error(`${pattern} did not come\nstdout: ${this.stdout}\nstderr: ${this.stderr}`);
      }
    }
  }

  signal(name: 'SIGHUP' | 'SIGINT' | 'SIGTERM'): void {
    this.#child.kill(name);
  }

  /** The exit code, when it has ended. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

export interface ProcessOptions {
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs a command to its end. */
export async function dragoman(
  args: readonly string[],
  options: ProcessOptions,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  await using child = new DragomanProcess(args, options);
  const code = await child.ended();
  return { code, stdout: child.stdout, stderr: child.stderr };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
