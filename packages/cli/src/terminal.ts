/** Where a command writes and reads, and what it may assume of whoever is at the other end. */
export interface Terminal {
  /** To stdout: what was asked for. */
  out(text: string): void;
  /** To stderr: what a person may want to know beside it. */
  note(text: string): void;
  readStdin(): Promise<Uint8Array>;
  /** Whether stdout is a screen. */
  readonly isTTY: boolean;
  /** Whether colours are welcome, on each of the two. */
  readonly colour: { readonly out: boolean; readonly note: boolean };
}

/** The terminal of this process. */
export function processTerminal({ environment }: { environment: NodeJS.ProcessEnv }): Terminal {
  const { stdout, stderr, stdin } = process;
  // Whoever reads us may leave at any time, as `head` does. There is nobody left to tell.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(1);
      throw error;
    });
  }
  // https://no-color.org: any value but the empty one.
  const plain = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return {
    out: (text) => void stdout.write(text),
    note: (text) => void stderr.write(text),
    isTTY: stdout.isTTY === true,
    colour: { out: stdout.isTTY === true && !plain, note: stderr.isTTY === true && !plain },
    async readStdin() {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    },
  };
}
