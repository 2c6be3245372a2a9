import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { type BuildOptions, build } from 'esbuild';
import { expect, test } from 'vitest';
import { realServer } from '../test-support/real-server.ts';
import type { createClient } from './client.ts';

const forBrowsers = {
  entryPoints: [fileURLToPath(new URL('index.ts', import.meta.url))],
  bundle: true,
  write: false,
  metafile: true,
  platform: 'browser',
  format: 'iife',
  globalName: 'dragoman',
  target: 'es2022',
  conditions: ['dragoman:source'],
  logLevel: 'silent',
} satisfies BuildOptions;

test('the package bundles for a browser, with nothing of Node in it', async () => {
  const { metafile, errors, warnings } = await build(forBrowsers);
  expect([...errors, ...warnings]).toEqual([]);
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter((path) => isBuiltin(path))).toEqual([]);
});

test('it has no code of other protocols', async () => {
  const { metafile } = await build(forBrowsers);
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  expect(inputs.map(([path]) => path).filter((path) => /\/(?:generated\/)?a2[ae]-\w+/.test(path))).toEqual([]);
});

test('the bundle runs where there is nothing but what the web has', async () => {
  const { url, key } = await realServer();
  const { outputFiles } = await build(forBrowsers);
  const { fetch, URL, TextDecoder, TextEncoder, AbortController, crypto, performance } = globalThis;
  const web = { fetch, URL, TextDecoder, TextEncoder, AbortController, crypto, performance, setTimeout, clearTimeout };
  const context = createContext({ ...web });
  runInContext(outputFiles[0]?.text ?? '', context);
  const dragoman = runInContext('dragoman', context) as { createClient: typeof createClient };
  const client = dragoman.createClient({ url, key });
  expect(await client.send('as in a browser').text()).toBe('as in a browser');
  await expect(client.send('x', { agent: 'nobody' }).text()).rejects.toMatchObject({ code: 'no_route' });
  await expect(client.connect()).rejects.toMatchObject({ code: 'unsupported' });
});
