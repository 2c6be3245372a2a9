import { isatty } from 'node:tty';

/** The input and outputs of a command, and what is known about them. */
export interface Terminal {
  /** Writes to stdout: the result. */
  out(text: string): void;
  /** Writes to stderr: notes for people. */
  note(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** Asks the person at the keyboard, without an echo; absent without a keyboard. */
  readonly askHidden?: (prompt: string) => Promise<string | undefined>;
  /** Asks the person at the keyboard; `undefined` at the end of input. Absent without a keyboard. */
  readonly ask?: (prompt: string, signal?: AbortSignal) => Promise<string | undefined>;
  /** The width of the screen; absent if stdout is not a terminal. */
  readonly columns?: number | undefined;
  /** Whether stdout is a terminal. */
  readonly isTTY: boolean;
  /** Whether stdout and stderr accept colours. */
  readonly colour: { readonly out: boolean; readonly note: boolean };
}

/** The terminal of this process. */
export function processTerminal({ environment }: { environment: NodeJS.ProcessEnv }): Terminal {
  const { stdout, stderr } = process;
  // The reader of stdout may leave at any time, as `head` does. The result is then not needed any more, so the command
  // ends. Notes that nobody reads end nothing.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(1);
    throw error;
  });
  stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  // https://no-color.org: any value but the empty one.
  const plain = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return {
    out: (text) => void stdout.write(text),
    note: (text) => void stderr.write(text),
    get columns() {
      return stdout.isTTY === true ? stdout.columns : undefined;
    },
    isTTY: stdout.isTTY === true,
    colour: { out: stdout.isTTY === true && !plain, note: stderr.isTTY === true && !plain },
    // Not with `process.stdin`, which access would open.
    ...(isatty(0) && stderr.isTTY && { askHidden: (prompt: string) => typedHidden(prompt), ask: typed }),
    async readStdin() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    },
  };
}

/** Reads one line from the keyboard. `undefined` at the end of input. Rejects if the signal aborts. */
async function typed(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C means the command, not the line.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(prompt, signal === undefined ? {} : { signal }), ended]);
  } finally {
    lines.close();
  }
}

/** Reads one line without echo. `undefined` after Ctrl-C or Ctrl-D. Backspace removes the last character. */
function typedHidden(prompt: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8').resume();
  return new Promise((resolve) => {
    let typed: string[] = [];
    const end = (value: string | undefined) => {
      stdin.off('data', take).setRawMode(false).pause();
      stderr.write('\n');
      resolve(value);
    };
    const take = (text: string) => {
      for (const character of text) {
        if (character === '\r' || character === '\n') return end(typed.join(''));
        if (character === '\u0003' || character === '\u0004') return end(undefined);
        if (character === '\u007f' || character === '\b') typed = typed.slice(0, -1);
        else typed.push(character);
      }
    };
    stdin.on('data', take);
  });
}
