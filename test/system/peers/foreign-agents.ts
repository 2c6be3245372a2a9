import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ForeignAgent {
  readonly version: '1.0' | '0.3';
  readonly binding?: 'JSONRPC' | 'HTTP+JSON';
  /** A stream is cut after so many bytes, once. */
  readonly cutAfter?: number;
}

/** Agents on the official JavaScript SDKs, in their own process. */
export class ForeignAgents implements AsyncDisposable {
  readonly urls: readonly string[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, urls: readonly string[]) {
    this.#child = child;
    this.urls = urls;
  }

  static async start(agents: readonly ForeignAgent[]): Promise<ForeignAgents> {
    const program = fileURLToPath(new URL('sdk-servers.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, JSON.stringify(agents)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return new ForeignAgents(child, JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill();
    await gone;
  }
}
