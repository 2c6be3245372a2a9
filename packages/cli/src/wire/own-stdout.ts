import type { LineOutput } from '@dragoman/server';

/**
 * Reserves stdout for the protocol: other output of this process, such as `console.log` of a tool,
 * goes to stderr, where it breaks nothing. A reader who leaves is the end of the connection, and not at once that of the process,
 * which has programs to end and a folder to remove.
 */
export function ownStdout(): { readonly output: LineOutput; giveBack(): void } {
  const { stdout, stderr } = process;
  const write = stdout.write;
  const toUs = write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const onError = stdout.listeners('error') as (() => void)[];
  stdout.removeAllListeners('error').on('error', ignored);
  return {
    // Without a stream around the stream.
    output: {
      get writableLength() {
        return stdout.writableLength;
      },
      // Answers that are ready together, as those of one commit are, go out in one system call.
      write(text, done) {
        if (stdout.writableCorked === 0) {
          stdout.cork();
          process.nextTick(() => stdout.uncork());
        }
        return toUs(text, done);
      },
      on: (event, listener) => stdout.on(event, listener),
      // The process keeps it: it ends when that does.
      end: (done) => toUs('', () => done()),
      destroy: () => stdout.destroy(),
    },
    giveBack: () => {
      stdout.write = write;
      stdout.off('error', ignored);
      for (const listener of onError) stdout.on('error', listener);
    },
  };
}

/** The writer's callback handles the error; without any listener, it would be thrown. */
function ignored(): void {}
