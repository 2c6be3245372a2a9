import { Writable } from 'node:stream';

/**
 * Takes stdout for the protocol alone: what anything else in this process prints, a tool with `console.log` in it say,
 * goes to stderr, where it breaks nothing.
 */
export function ownStdout(): { readonly output: Writable; giveBack(): void } {
  const { stdout, stderr } = process;
  const write = stdout.write;
  const toUs = write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const output = new Writable({
    decodeStrings: false,
    write: (chunk, _, done) => void toUs(chunk, 'utf8', (error) => done(error)),
  });
  return {
    output,
    giveBack: () => {
      stdout.write = write;
    },
  };
}
