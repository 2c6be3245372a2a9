import type { Json, JsonObject } from '@dragoman/protocols';
import type { AnswerFold } from '@dragoman/protocols/mcp';
import type { Clock } from '../../ports/ports.ts';

/** `notifications/progress` of one call: at most four a second after the first four, and always rising. */
export class ProgressNotes {
  readonly #token: Json;
  readonly #clock: Clock;
  #left = PER_SECOND;
  #refilledAt: number;
  #last = -1;

  constructor(token: Json, clock: Clock) {
    this.#token = token;
    this.#clock = clock;
    this.#refilledAt = clock.elapsed();
  }

  /** The progress of the answer; `undefined` when there is none to report yet. */
  of({ percent, count, lastWords }: AnswerFold): JsonObject | undefined {
    const progress = percent ?? count;
    if (progress <= this.#last || !this.#take()) return undefined;
    this.#last = progress;
    return {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: {
        progressToken: this.#token,
        progress,
        ...(percent !== undefined && { total: 100 }),
        ...(lastWords !== '' && { message: lastWords }),
      },
    };
  }

  #take(): boolean {
    const now = this.#clock.elapsed();
    this.#left = Math.min(PER_SECOND, this.#left + ((now - this.#refilledAt) * PER_SECOND) / 1000);
    this.#refilledAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

const PER_SECOND = 4;
