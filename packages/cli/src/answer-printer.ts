import type { Reconnect } from '@dragoman/client';
import { type E2AResponse, encodeResponse, isFailed, isObject, textOfResult } from '@dragoman/protocols';
import { PROGRAM } from './command.ts';
import type { ExitCode } from './context.ts';
import { paint } from './paint.ts';
import type { Terminal } from './terminal.ts';
import { visible } from './visible.ts';

/** Shows an answer as it arrives: its text as text, or each frame as a line of JSON. */
export class AnswerPrinter {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  /** Whether the current line has text. */
  #openLine = false;
  #saidSomething = false;

  constructor({ terminal, json }: { terminal: Terminal; json: boolean }) {
    this.#terminal = terminal;
    this.#json = json;
  }

  frame(frame: E2AResponse): void {
    if (this.#json) this.#terminal.out(`${JSON.stringify(encodeResponse(frame))}\n`);
    else if (frame.response_kind === 'e2a.chunk') this.#chunk(frame.body);
    else if (isFailed(frame)) this.#failed(frame.body);
    else if (frame.is_final) this.#complete(frame);
  }

  /** Ends the line of an answer that broke off. */
  endLine(): void {
    if (this.#openLine) this.#terminal.out('\n');
    this.#openLine = false;
  }

  #chunk({ delta_kind, delta }: E2AResponse['body']): void {
    // Only text is printed: a person wants the answer. `--json` shows all chunks, such as reasoning and tool calls.
    if (delta_kind === 'text' && typeof delta === 'string') this.#say(delta);
  }

  #complete({ response_kind, body }: E2AResponse): void {
    // The result repeats the streamed text, so it is printed only if nothing was streamed.
    if (!this.#saidSomething) {
      const result = response_kind === 'e2a.complete' ? body['result'] : body;
      this.#say(textOfResult(result) ?? JSON.stringify(result ?? null, null, 2));
    }
    this.endLine();
  }

  #failed(body: E2AResponse['body']): void {
    this.endLine();
    const { red } = paint(this.#terminal.colour.note);
    const code = body['code'] === undefined ? '' : `${String(body['code'])}: `;
    this.#terminal.note(`${red('error:')} ${visible(`${code}${String(body['message'] ?? 'the request failed')}`)}\n`);
    const details = isObject(body['details']) ? body['details'] : {};
    const suggestions = Array.isArray(details['suggestions']) ? details['suggestions'] : [];
    const unwell = body['code'] === 'E2A.AGENT_ERROR' ? [AGENT_UNWELL] : [];
    for (const fix of [...suggestions, ...unwell]) this.#terminal.note(`  → ${visible(String(fix))}\n`);
  }

  #say(text: string): void {
    if (text === '') return;
    this.#terminal.out(visible(text));
    this.#openLine = !text.endsWith('\n');
    this.#saidSomething = true;
  }
}

/** The exit code of a command whose answer ends with this frame. */
export function exitCodeOf(final: E2AResponse): ExitCode {
  return isFailed(final) ? 1 : 0;
}

/** The note before a retry, with the server's reason if it gave one. */
export function reconnecting({ error, waitMs }: Pick<Reconnect, 'error' | 'waitMs'>): string {
  const reason = error.status === undefined ? 'the connection broke;' : visible(error.message);
  return `${reason} trying again in ${(waitMs / 1000).toFixed(1)} s\n`;
}

/** The operator has to fix an agent that cannot be reached, and sees more than its callers. */
const AGENT_UNWELL = `on the machine of the server, run the checks: ${PROGRAM} doctor`;
