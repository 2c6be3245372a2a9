import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../packages/protocols/src/index.ts', import.meta.url));

test('the toolkit runs where there is no Node and no eval', async () => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    globalName: 'dragoman',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    metafile: true,
  });
  const code = result.outputFiles[0]?.text ?? '';
  expect(code).not.toMatch(/\beval\(|new Function\b/);
  const foreign = Object.keys(result.metafile.inputs).filter((file) => file.includes('node_modules/'));
  expect(foreign.filter((file) => !file.includes('/canonicalize/'))).toEqual([]);

  // What every browser has, and nothing else; code from strings is switched off.
  const globals = { TextDecoder, TextEncoder, URL, text: '{"from":"Ada","message":"Hello"}' };
  const script = `${code};
    const read = dragoman.parseJson(text);
    const dialect = dragoman.dialectOf(read.value);
    const { value } = dialect.decode(read.value, new Date(0));
    JSON.stringify([dialect.name, dialect.toEnvelope(value).params.content]);`;
  const answer = runInNewContext(script, globals, { contextCodeGeneration: { strings: false, wasm: false } });
  expect(JSON.parse(answer)).toEqual(['a2a-mailbox', 'Hello']);
});
