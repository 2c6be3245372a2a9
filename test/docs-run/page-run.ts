import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyDiff } from './apply-diff.ts';
import { type Block, isBlock, type Part } from './page.ts';
import { differenceInJson, differenceInText } from './same-output.ts';
import { Serving } from './serving.ts';

/** Runs the blocks of one page in its own folder. */
export class PageRun implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'dragoman-docs-'));
  readonly #serving: Serving[] = [];
  /** The real ports of the started programs, by the ports on the page. */
  readonly #ports = new Map<string, string>();
  #printed = '';

  /** `prepare` puts into the folder what the reader has there already. */
  constructor(prepare: (folder: string) => void) {
    prepare(this.#folder);
  }

  /** Runs one part. Throws where the page is wrong. */
  async follow(part: Part): Promise<void> {
    if (!isBlock(part)) return this.#serving.pop()?.stop();
    const { needs } = part.settings;
    if (needs !== undefined && !isInstalled(needs)) throw new Lacking(needs);
    const text = [...this.#ports].reduce((replaced, [usual, real]) => replaced.replaceAll(usual, real), part.text);
    if (part.does === 'file') return this.#write(part.settings['file'] ?? '', text);
    if (part.does === 'run') return this.#run(part, text);
    if (part.does === 'serve') return this.#serve(text);
    if (part.does === 'patch') return this.#patch(text);
    if (part.does === 'output') return this.#compare(part);
    if (part.does === 'awaited') return this.#serving.at(-1)?.prints(part.text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const serving of this.#serving.reverse()) await serving.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(name: string, text: string): void {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  #patch(text: string): void {
    applyDiff(text, (path, change) => {
      const file = join(this.#folder, path);
      writeFileSync(file, change(readFileSync(file, 'utf8')));
    });
  }

  /** What is exported stays so for the blocks that follow, as in a terminal. */
  async #run({ settings }: Block, text: string): Promise<void> {
    const before = existsSync(join(this.#folder, EXPORTED)) ? `. ./${EXPORTED}\n` : '';
    const script = `exec 2>&1\n${before}set -euo pipefail\ntrap 'export -p > ${EXPORTED}' EXIT\n${text}`;
    const child = spawn('bash', ['-c', script], this.#options());
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      printed += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    this.#printed = [...this.#ports].reduce((replaced, [usual, real]) => replaced.replaceAll(real, usual), printed);
    const expected = Number(settings['exit'] ?? 0);
    if (code !== expected) throw new Error(`it ended with ${code}:\n${text}\n${printed}`);
  }

  async #serve(text: string): Promise<void> {
    const serving = new Serving(text.trim(), this.#options());
    this.#serving.push(serving);
    const port = await serving.ready();
    if (port !== undefined) this.#ports.set(serving.usualPort, port);
  }

  #compare({ language, text }: Block): void {
    const difference = language === 'json' ? differenceInJson : differenceInText;
    const found = difference(text, this.#printed);
    if (found !== undefined) throw new Error(found);
  }

  #options() {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DRAGOMAN_'));
    const PATH = `${join(this.#folder, '.bin')}:${process.env['PATH']}`;
    return {
      cwd: this.#folder,
      env: { ...Object.fromEntries(inherited), PATH },
      stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'],
    };
  }
}

/** A page stops on a machine without a program it needs; that is not a fault of the page. */
export class Lacking extends Error {}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

const EXPORTED = '.exported';
