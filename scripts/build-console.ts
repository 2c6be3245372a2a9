import { readdirSync, writeFileSync } from 'node:fs';
import { build } from 'vite';
import { PACKAGES } from './packages.ts';

/** Bundles the console into a folder, with the list of the files that a server may serve from it. */
export async function buildConsole(folder: string): Promise<void> {
  await build({
    configFile: `${PACKAGES}console/vite.config.ts`,
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  });
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes('.'));
  writeFileSync(`${folder}/files.json`, JSON.stringify(files.map((file) => file.replaceAll('\\', '/')).sort()));
}
