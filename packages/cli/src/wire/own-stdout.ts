import type { LineOutput } from '@dragoman/server';

/**
 * Reserves stdout for the protocol. Other output of this process, such as `console.log` of a tool, goes to stderr. If
 * the reader leaves, the connection ends, but not at once the process, which first has to end programs and remove a
 * folder.
 */
export function ownStdout(): { readonly output: LineOutput; giveBack(): void } {
  const { stdout, stderr } = process;
  const write = stdout.write;
  const toUs = write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const onError = stdout.listeners('error') as (() => void)[];
  stdout.removeAllListeners('error').on('error', ignored);
  return {
    // Writes to stdout directly, without a stream around it.
    output: {
      get writableLength() {
        return stdout.writableLength;
      },
      // Answers that are ready together, such as those of one commit, are sent in one system call.
      write(text, done) {
        if (stdout.writableCorked === 0) {
          stdout.cork();
          process.nextTick(() => stdout.uncork());
        }
        return toUs(text, done);
      },
      on: (event, listener) => stdout.on(event, listener),
      // stdout stays open until the process ends.
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
