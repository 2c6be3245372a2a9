import type { Json } from '@dragoman/protocols';
import { paint } from '../paint.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';
import { wrap } from '../wrap.ts';

/** Prints and verifies the tour: what was sent, how it was converted, what was received, and whether it is correct. */
export class Narrator {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #chapter = 0;
  #steps = 0;
  #failed = 0;

  constructor({ terminal, json }: { terminal: Terminal; json: boolean }) {
    this.#terminal = terminal;
    this.#json = json;
  }

  get steps(): number {
    return this.#steps;
  }

  get failed(): number {
    return this.#failed;
  }

  chapter(title: string): void {
    this.#chapter += 1;
    if (this.#json) this.#line({ event: 'chapter', number: this.#chapter, title });
    else this.#terminal.out(`\n${paint(this.#terminal.colour.out).bold(`${this.#chapter}. ${title}`)}\n`);
  }

  /** Shows a value. `what` is one word: `sent`, `became` or `received`. */
  shows(what: string, value: Json): void {
    if (this.#json) {
      this.#line({ event: 'shown', what, value });
      return;
    }
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const lines = wrap(visible(text).trimEnd(), COLUMNS - INDENT).join(`\n${' '.repeat(INDENT)}`);
    this.#terminal.out(`   ${paint(this.#terminal.colour.out).dim(what.padEnd(INDENT - 4))} ${lines}\n`);
  }

  /** Reports whether something that must be true is true. */
  holds(what: string, isSo: boolean): void {
    this.#steps += 1;
    if (!isSo) this.#failed += 1;
    if (this.#json) {
      this.#line({ event: 'checked', what, ok: isSo });
      return;
    }
    const { green, red } = paint(this.#terminal.colour.out);
    this.#terminal.out(`   ${isSo ? green('✓') : red('✗')} ${visible(what)}\n`);
  }

  end(): void {
    const ok = this.#failed === 0;
    if (this.#json) this.#line({ event: 'ended', ok, steps: this.#steps, failed: this.#failed });
    else
      this.#terminal.out(
        ok ? `\nAll ${this.#steps} checks passed.\n` : `\n${this.#failed} of ${this.#steps} checks failed.\n`,
      );
  }

  #line(json: Json): void {
    this.#terminal.out(`${JSON.stringify(json)}\n`);
  }
}

const INDENT = 12;
/** The width of a value that fits into one line of a terminal. */
const COLUMNS = 100;
