import { setFlagsFromString } from 'node:v8';
import { main } from './main.ts';
import { processSurroundings } from './surroundings.ts';

// Threads that start from now on cannot compile code from strings. For the main thread, the same option is given to
// Node: `node --disallow-code-generation-from-strings`.
setFlagsFromString('--disallow-code-generation-from-strings');

// The entry of the process. A module agent may have left a timer behind, so the process exits explicitly, after all
// output was written.
const code = await main(process.argv.slice(2), processSurroundings());
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
