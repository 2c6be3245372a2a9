import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../ports.ts';

/** The names that this machine's hosts file knows. It is looked at again after a moment, and read again when it has changed. */
export class HostsFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #forMs: number;
  #names: ReadonlySet<string> = new Set();
  #version = '';
  #looked: Promise<unknown> | undefined;
  #until = Number.NEGATIVE_INFINITY;

  constructor({ clock, forMs, path = HOSTS_FILE }: { clock: Clock; forMs: number; path?: string }) {
    this.#path = path;
    this.#clock = clock;
    this.#forMs = forMs;
  }

  async has(name: string): Promise<boolean> {
    if (this.#looked === undefined || this.#clock.elapsed() >= this.#until) {
      this.#until = this.#clock.elapsed() + this.#forMs;
      // A machine need not have one.
      this.#looked = this.#look().catch(() => {});
    }
    await this.#looked;
    return this.#names.has(name);
  }

  async #look(): Promise<void> {
    const { mtimeMs, size } = await stat(this.#path);
    const version = `${mtimeMs} ${size}`;
    if (version === this.#version) return;
    this.#names = namesIn(await readFile(this.#path, 'utf8'));
    this.#version = version;
  }
}

/** Of each line all but the address it begins with. */
function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of text.toLowerCase().split('\n')) {
    const [told = ''] = line.split('#');
    for (const name of told.trim().split(/\s+/).slice(1)) names.add(name);
  }
  return names;
}

const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
