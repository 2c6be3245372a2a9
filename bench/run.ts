// Runs one benchmark: `npm run bench -- NAME`. Each prints its table, the machine, and PASS or the shortfall.
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { watchStolen } from './support/stolen.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
// Each benchmark is a file here; what it is made of is in the folder of its name, what they share in `support`.
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length));
const name = process.argv[2] ?? '';

if (!names.includes(name)) {
  console.error(`There is no benchmark ${JSON.stringify(name)}. Those that are: ${names.join(', ')}.`);
  console.error(`For example: npm run bench -- ${names[0]}`);
  process.exit(2);
}

const { run } = (await import(`./${name}.ts`)) as { run: () => Promise<readonly string[]> };
const [cpu] = cpus();
console.log(`${cpu?.model.trim()}, ${cpus().length} cores, Node ${process.version}, ${process.platform}\n`);
const stolen = watchStolen();
const shortfalls = await run();
const share = stolen();
if (share !== undefined)
  console.log(`\nMeanwhile ${(100 * share).toFixed(1)} % of the processor was given to other machines.`);
console.log(shortfalls.length === 0 ? '\nPASS' : `\nSHORT\n${shortfalls.map((line) => `- ${line}`).join('\n')}`);
process.exit(shortfalls.length === 0 ? 0 : 1);
