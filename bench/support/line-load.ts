import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** A JSON-RPC server on the standard streams of a process. */
export class LinePeer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, (line: string) => void>();
  #text = '';
  #last = 0;

  constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  /** The line of the response. `message` gets the id. */
  exchange(message: (id: number) => string): Promise<string> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin.write(`${message(id)}\n`);
    });
  }

  tell(message: string): void {
    this.#child.stdin.write(`${message}\n`);
  }

  /** Calls per second with this many under way. */
  async load(message: (id: number) => string, { atOnce, milliseconds }: { atOnce: number; milliseconds: number }) {
    const start = performance.now();
    let answers = 0;
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (performance.now() - start < milliseconds) {
          const line = await this.exchange(message);
          if (line.includes('"error"') || line.includes('"isError":true')) throw new Error(line.slice(0, 300));
          answers += 1;
        }
      }),
    );
    return { perSecond: (1000 * answers) / (performance.now() - start) };
  }

  #take(text: string): void {
    this.#text += text;
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      // Not parsed: that would cost as much as what is measured.
      const id = Number(/"id":(\d+)/.exec(line)?.[1]);
      this.#waiting.get(id)?.(line);
      this.#waiting.delete(id);
    }
  }
}
