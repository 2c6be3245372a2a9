import type { ExecutionEvent } from '@dragoman/client';
import type { ExecutionResult } from '@dragoman/protocols/a2e-workflow';
import { PROGRAM } from '../command.ts';
import { paint } from '../paint.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';

/**
 * Shows the progress of an execution: on a screen, the line of a running operation is replaced when it ends; elsewhere,
 * each end is a line.
 */
export class ProgressPrinter {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #open = '';

  constructor({ terminal, json }: { terminal: Terminal; json: boolean }) {
    this.#terminal = terminal;
    this.#json = json;
  }

  print(progress: ExecutionEvent): void {
    if (this.#json || progress.event === 'execution-finished') return;
    const name = visible(progress.key ?? progress.operationId);
    const { green, red, dim } = paint(this.#terminal.colour.out);
    if (progress.event === 'operation-started') {
      if (!this.#terminal.isTTY) return;
      this.#clear();
      this.#open = `  … ${name}`;
      this.#terminal.out(this.#open);
      return;
    }
    if (progress.event === 'question-asked') {
      const { question_id: id, title } = progress.question;
      this.#clear();
      this.#terminal.out(
        `  ? ${name}  ${visible(title)}\n    → answer it with: ${PROGRAM} questions answer ${visible(id)} …\n`,
      );
      return;
    }
    if (progress.event === 'question-resolved') {
      const { state, answer } = progress.end;
      this.#terminal.out(
        `  ! ${name}  ${state}${answer === undefined ? '' : `: ${visible(answer.option_id ?? answer.action)}`}\n`,
      );
      return;
    }
    this.#clear();
    const mark = progress.status === 'success' ? green('✓') : red('✗');
    const cached = progress.cached === true ? ', cached' : '';
    this.#terminal.out(`  ${mark} ${name}  ${dim(`${Math.round(progress.duration_ms)} ms${cached}`)}\n`);
  }

  /** Shows how the execution ended, and the result of its last operation. */
  end({ execution_id, status, results, skipped = [], duration_ms = 0, error, errors }: ExecutionResult): void {
    this.#clear();
    const { green, red, dim } = paint(this.#terminal.colour.out);
    const word = status === 'success' ? green(status) : red(status);
    this.#terminal.out(`${word} ${dim(`${execution_id ?? ''}, ${Math.round(duration_ms)} ms`)}\n`);
    for (const one of errors ?? (error === undefined ? [] : [error])) {
      const place = one.operationId === undefined ? '' : `${one.operationId}: `;
      this.#terminal.out(`  ${red(one.type)} ${visible(`${place}${one.message}`)}\n`);
      for (const suggestion of one.suggestions ?? []) this.#terminal.out(`    → ${visible(suggestion)}\n`);
    }
    if (skipped.length > 0) this.#terminal.out(`  not run: ${visible(skipped.join(', '))}\n`);
    const last = Object.entries(results).at(-1);
    if (last !== undefined) this.#terminal.out(`${visible(JSON.stringify(last[1], null, 2))}\n`);
  }

  #clear(): void {
    if (this.#open !== '') this.#terminal.out(`\r${' '.repeat(this.#open.length)}\r`);
    this.#open = '';
  }
}
