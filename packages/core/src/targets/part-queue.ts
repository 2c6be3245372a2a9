import type { JsonObject } from '@dragoman/protocols';
import type { AgentPart } from '../agents/agent.ts';
import { atMost } from '../json/json-size.ts';

/**
 * Passes chunks from a callback, which cannot wait, to a generator. When the queue is full, that chunk and all later
 * ones are dropped, because a result with a gap would look complete. The last chunk reports how many are missing.
 */
export class PartQueue {
  #parts: AgentPart[] = [];
  #bytes = 0;
  #dropped = 0;
  #wake: (() => void) | undefined;

  put(body: JsonObject): void {
    const size = atMost(body, MOST_BYTES + 1);
    if (this.#dropped > 0 || this.#bytes + size > MOST_BYTES) this.#dropped += 1;
    else {
      this.#bytes += size;
      this.#parts.push({ part: 'chunk', body });
    }
    this.#wake?.();
  }

  /** Yields queued parts until `work` settles, then returns its result or throws its error. */
  async *until<Result>(work: Promise<Result>): AsyncGenerator<AgentPart, Result, undefined> {
    let isOver = false;
    const over = () => {
      isOver = true;
      this.#wake?.();
    };
    work.then(over, over);
    for (;;) {
      const parts = this.#parts;
      this.#parts = [];
      this.#bytes = 0;
      yield* parts;
      if (isOver && this.#parts.length === 0) break;
      if (!isOver && this.#parts.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
    if (this.#dropped > 0) yield { part: 'chunk', body: droppedChunk(this.#dropped) };
    return await work;
  }
}

function droppedChunk(count: number): JsonObject {
  return { delta_kind: 'tool', delta: { event: 'log', data: { level: 'warn', message: `${count} events dropped` } } };
}

const MOST_BYTES = 4 * 1024 * 1024;
