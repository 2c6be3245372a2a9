import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { AuditEntry, Clock, Log } from '@dragoman/core';

export interface AuditFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** A file that would exceed this size is rotated. Default: 10 MiB. */
  readonly maxBytes?: number;
  /** The number of rotated files that are kept. Default: 5. */
  readonly kept?: number;
}

/**
 * Writes one JSON line for each request of the wire, to a file that only its owner can read. Lines are collected for a
 * moment and written together. Lines that cannot be written are reported in the log; no request waits for them.
 */
export class AuditFile implements AsyncDisposable {
  readonly #options: Required<AuditFileOptions>;
  #lines: string[] = [];
  #size = 0;
  #writing: Promise<void> = Promise.resolve();
  #isDue = false;
  /** Whether the file may end within a line, cut off by a crash or a full disk. */
  #mayBeCut = true;

  constructor(options: AuditFileOptions) {
    this.#options = { maxBytes: 10 * 1024 * 1024, kept: 5, ...options };
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    appendFileSync(options.path, '', { mode: 0o600 });
    this.#size = statSync(options.path).size;
  }

  write(entry: AuditEntry): void {
    this.#lines.push(`${JSON.stringify(entry)}\n`);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.after(COLLECT_MS, () => this.#flush());
  }

  /** For each agent that used this request id its newest line, the newest of all first. */
  async named(requestId: string): Promise<AuditEntry[]> {
    this.#flush();
    await this.#writing;
    const { path, kept } = this.#options;
    const wanted = JSON.stringify(requestId);
    const byAgent = new Map<string, AuditEntry>();
    // The oldest first, so that a newer line takes the place of an older one.
    for (const file of [...Array.from({ length: kept }, (_, age) => `${path}.${kept - age}`), path]) {
      if (!existsSync(file)) continue;
      for await (const line of createInterface({ input: createReadStream(file) })) {
        // Only lines that contain the id are parsed.
        const entry = line.includes(wanted) ? entryIn(line) : undefined;
        if (entry?.req_id !== requestId) continue;
        byAgent.delete(entry.agent_id);
        byAgent.set(entry.agent_id, entry);
      }
    }
    return [...byAgent.values()].reverse();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    this.#isDue = false;
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#writing = this.#writing
      .then(() => this.#append(text))
      .catch((error: unknown) => this.#options.log.error({ error: String(error) }, 'audit lines could not be written'));
  }

  async #append(text: string): Promise<void> {
    const { path, maxBytes } = this.#options;
    if (this.#size > 0 && this.#size + text.length > maxBytes) this.#putAside();
    // Appended to half a line, the next line would be lost with it.
    const whole = this.#mayBeCut && endsWithinLine(path) ? `\n${text}` : text;
    this.#mayBeCut = true;
    await appendFile(path, whole, { mode: 0o600 });
    this.#mayBeCut = false;
    this.#size += Buffer.byteLength(whole);
  }

  /** Renames `wire.ndjson` to `wire.ndjson.1`, that to `.2`, and overwrites the last one. */
  #putAside(): void {
    const { path, kept } = this.#options;
    for (let age = kept - 1; age >= 0; age--) {
      const from = age === 0 ? path : `${path}.${age}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${age + 1}`);
    }
    this.#size = 0;
  }
}

function endsWithinLine(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return false;
  const file = openSync(path, 'r');
  try {
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, size - 1);
    return last[0] !== LF;
  } finally {
    closeSync(file);
  }
}

/** The entry of a line; `undefined` for a line that a crash cut off. */
function entryIn(line: string): AuditEntry | undefined {
  try {
    return JSON.parse(line) as AuditEntry;
  } catch {
    return undefined;
  }
}

const COLLECT_MS = 100;
const LF = 0x0a;
