import { setFlagsFromString } from 'node:v8';
import { main } from './main.ts';
import { processSurroundings } from './surroundings.ts';

// No thread that is started from now on can make code out of text. For this one it was decided when Node was started:
// `node --disallow-code-generation-from-strings`.
setFlagsFromString('--disallow-code-generation-from-strings');

// What the process runs. A module agent may have left a timer behind, so the process exits explicitly, but only
// when everything written has left.
const code = await main(process.argv.slice(2), processSurroundings());
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
