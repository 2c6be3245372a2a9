import type { Json, JsonObject } from '@dragoman/protocols';
import type { Ask } from '../call/ask.ts';
import type { ToolEvent } from '../call/caller-tools.ts';
import type { Principal } from '../call/principal.ts';
import type { Ending } from '../ending/ending.ts';
import { atMost } from '../json/json-size.ts';
import type { Log } from '../ports/ports.ts';
import { ActiveRun } from '../runs/active-run.ts';
import type { Countdown } from '../time/countdown.ts';
import { plainJson } from './plain-json.ts';
import { type ArtifactPiece, FailedOutcome, type ToolCall } from './tool.ts';

export interface RunningToolOptions {
  readonly onEvent?: ((event: ToolEvent) => void) | undefined;
  /** Default: 0. */
  readonly hops?: number | undefined;
  readonly ask?: Ask | undefined;
}

/** One call of a tool while it runs. Events after its end are dropped. */
export class RunningTool extends ActiveRun implements ToolCall {
  readonly kind = 'tool';
  readonly principal: Principal;
  readonly hops: number;
  readonly #ask: Ask | undefined;
  /** Open questions to people, during which the tool's timeout does not run. */
  #questions = 0;
  #countdown: Countdown | undefined;
  readonly #onEvent: ((event: ToolEvent) => void) | undefined;
  /** Created at the first event, because most tools emit none. */
  #kept: JsonObject[] | undefined;
  /** Bytes of events that may still be kept, and the number of events that were not. */
  #room = MOST_KEPT_BYTES;
  #left = 0;
  #log: Log | undefined;
  #isOver = false;

  /** Without `onEvent`, events are kept for the result. */
  constructor(principal: Principal, { onEvent, hops = 0, ask }: RunningToolOptions = {}) {
    super();
    this.#ask = ask;
    this.principal = principal;
    this.hops = hops;
    this.#onEvent = onEvent;
  }

  get hasListener(): boolean {
    return this.#onEvent !== undefined;
  }

  get kept(): JsonObject[] {
    const kept = this.#kept ?? [];
    if (this.#left === 0) return kept;
    const message = `${this.#left} more events are left out; call with streaming to have them all`;
    return [...kept, { kind: 'log', data: { level: 'warn', message } }];
  }

  get ending(): Ending {
    return this;
  }

  get log(): Log {
    this.#log ??= eventLog((data) => this.#emit({ kind: 'log', data }));
    return this.#log;
  }

  get ask(): Ask | undefined {
    const ask = this.#ask;
    if (ask === undefined) return undefined;
    return async (question, { signal = this.signal, askers } = {}) => {
      this.#questions += 1;
      this.#countdown?.pause();
      try {
        return await ask(question, { signal, askers });
      } finally {
        this.#questions -= 1;
        this.#countdown?.resume();
      }
    };
  }

  /** Sets the timeout of the call, paused if questions are open already. */
  set countdown(countdown: Countdown) {
    this.#countdown = countdown;
    for (let open = 0; open < this.#questions; open++) countdown.pause();
  }

  progress(percent: number, message = ''): void {
    const pct = Number.isFinite(percent) ? Math.min(Math.max(percent, 0), 100) : 0;
    this.#emit({ kind: 'progress', data: { pct, message: String(message) } });
  }

  status(message: string, more: JsonObject = {}): void {
    this.#emit({ kind: 'status', data: { ...more, message: String(message) } });
  }

  artifact({ name, mime = 'application/octet-stream', chunk, final = false }: ArtifactPiece): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    do {
      const end = start + PIECE_BYTES;
      const base64 = all.toString('base64', start, Math.min(end, all.length));
      this.#emit({ kind: 'artifact', data: { name, mime, chunk: base64, final: final && end >= all.length } });
      start = end;
    } while (start < all.length);
  }

  failed(message: string, { code, data }: { readonly code?: string; readonly data?: Json } = {}): FailedOutcome {
    return new FailedOutcome(wordsOf(message ?? 'It did not succeed.'), {
      ...(code !== undefined && { code: String(code) }),
      ...(data !== undefined && { data: plainJson(data) }),
    });
  }

  /** Call it when the answer is known: later events are dropped. */
  over(): void {
    this.#isOver = true;
  }

  #emit(event: ToolEvent): void {
    if (this.#isOver) return;
    if (this.#onEvent !== undefined) {
      this.#onEvent(event);
      return;
    }
    this.#kept ??= [];
    this.#room -= atMost(event.data, this.#room + 1);
    // Once an event did not fit, all later ones are dropped: an artifact without a piece in the middle would look
    // complete.
    if (this.#left > 0 || this.#room < 0 || this.#kept.length >= MOST_KEPT) this.#left += 1;
    else this.#kept.push({ kind: event.kind, data: event.data });
  }
}

function eventLog(emit: (data: JsonObject) => void): Log {
  // Authors may omit the fields or the message; the event needs a message.
  const line = (level: string) => (fields: Readonly<Record<string, unknown>> | string, message?: string) => {
    const isAlone = typeof fields === 'string' || fields instanceof Error;
    const words = wordsOf(message ?? (isAlone ? fields : ''));
    emit({ ...(isAlone ? {} : (plainJson(fields) as JsonObject)), level, message: words });
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

/** Tools written without types may pass an error instead of a text. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Bytes of an artifact in one event: the largest multiple of 3 below 256 KiB, so that base64 needs no padding and
 * pieces can be joined before or after decoding.
 */
const PIECE_BYTES = 262_143;
const MOST_KEPT = 100;
/** As much as a result: both are in one line. */
const MOST_KEPT_BYTES = 1_048_576;
