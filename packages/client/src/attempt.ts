import { DragomanError } from './dragoman-error.ts';

/** One attempt over the network. It is aborted by its caller's signal, or after a silence of `silenceMs`. */
export class Attempt {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #silenceMs: number;
  readonly #url: string;

  constructor({ caller, silenceMs, url }: { caller: AbortSignal | undefined; silenceMs: number; url: string }) {
    this.signal = this.#controller.signal;
    this.#caller = caller;
    this.#silenceMs = silenceMs;
    this.#url = url;
    if (caller?.aborted === true) this.#follow();
    else caller?.addEventListener('abort', this.#follow, { once: true });
  }

  /** Waits for data from the network. The time between two waits does not count. */
  async wait<T>(something: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#controller.abort(silent(this.#url, this.#silenceMs)), this.#silenceMs);
    try {
      return await something;
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      throw error instanceof DragomanError ? error : unreachable(this.#url, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the connection in any state. */
  end(): void {
    this.leave();
    this.#controller.abort();
  }

  /** Stops following the caller's signal: the result has arrived. */
  leave(): void {
    this.#caller?.removeEventListener('abort', this.#follow);
  }

  readonly #follow = () => this.#controller.abort(this.#caller?.reason);
}

/** The error when there was no answer, or the connection broke. */
export function unreachable(url: string, cause: unknown): DragomanError {
  const reason = reasonOf(cause);
  return new DragomanError({
    code: 'unreachable',
    message: `${url} cannot be reached${reason === '' ? '' : ` (${reason})`}.`,
    retryable: true,
    suggestions: ['check that the server runs at this URL; `dragoman serve` starts a server and prints its URL'],
    cause,
  });
}

function silent(url: string, milliseconds: number): DragomanError {
  return new DragomanError({
    code: 'unreachable',
    message: `${url} sent nothing for ${milliseconds} ms.`,
    retryable: true,
    suggestions: ['check the network between here and the server'],
  });
}

/** The reason of a network error. Runtimes report "fetch failed", with the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : '';
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}
