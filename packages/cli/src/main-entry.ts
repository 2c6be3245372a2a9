import { main } from './main.ts';
import { processSurroundings } from './surroundings.ts';

// What the process runs. A module agent may have left a timer behind, so the end is said and not waited for, but only
// when everything written has left.
const code = await main(process.argv.slice(2), processSurroundings());
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
