import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The names users rely on. A name that goes is a breaking change; a new one is a promise. Both deserve a line here.

const manifest = JSON.parse(readFileSync(new URL('../packages/protocols/package.json', import.meta.url), 'utf8'));
const entries = Object.entries<Record<string, string>>(manifest.exports).filter(([path]) => !path.endsWith('*'));

test.each(entries)('@dragoman/protocols %s exports what it did', async (path, conditions) => {
  const file = fileURLToPath(new URL(`../packages/protocols/${conditions['dragoman:source']}`, import.meta.url));
  const names = Object.keys(await import(file)).sort();
  await expect(`${names.join('\n')}\n`).toMatchFileSnapshot(`exports/protocols${path.slice(1).replace('/', '-')}.txt`);
});
