// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { REDACTED } from '@dragoman/protocols';
import { afterAll, expect, test } from 'vitest';
import { SecretText } from '../gate/secret-text.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { References, referencedFiles, withReferencedFiles } from './references.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-references-'));
const file = join(folder, 'token');
writeFileSync(file, 'from-a-file\n');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { MODEL_KEY: 'sk-12345678', EMPTY: '', STRANGE: 'a ${MODEL_KEY} b' };
const references = new References({ environment });

function fault(values: Record<string, string>): string {
  try {
    references.variables(values, 'agents.coder.env');
  } catch (error) {
    return String((error as Error).message);
  }
  return 'none';
}

test('a variable is filled in anywhere in a text, a file is read without its last line break, and other texts stay', async () => {
  const read = references.variables(
    { KEY: '${MODEL_KEY}', AUTH: 'Bearer ${MODEL_KEY}!', FILE: `file:${file}`, URL: `file://${file}`, PLAIN: '$5 {a}' },
    'agents.coder.env',
  );
  expect(await read()).toEqual({
    KEY: 'sk-12345678',
    AUTH: 'Bearer sk-12345678!',
    FILE: 'from-a-file',
    URL: 'from-a-file',
    PLAIN: '$5 {a}',
  });
});

test('a value that was filled in is not looked at again', async () => {
  expect(await references.variables({ A: '${STRANGE}' }, 'agents.coder.env')()).toEqual({ A: 'a ${MODEL_KEY} b' });
});

test.each([
  ['${MISSING}', 'the environment variable MISSING is not set'],
  ['x ${EMPTY}', 'the environment variable EMPTY is empty'],
  ['${not a name}', '"${not a name}" does not name an environment variable'],
  ['${MODEL_KEY:-x}', '"${MODEL_KEY:-x}" does not name an environment variable'],
  ['${MODEL_KEY', '"${MODEL_KEY" does not name an environment variable'],
  ['file:/nowhere/at/all', 'file not found: /nowhere/at/all'],
  ['file://secrets/token', 'file not found: //secrets/token'],
  ['file:///a%zz', 'file not found: ///a%zz'],
])('the reference %s is an error that names the key', (text, what) => {
  expect(fault({ API_KEY: text })).toBe(`agents.coder.env.API_KEY: ${what}`);
});

test.each(['constructor', '__proto__', 'toString'])('${%s} is not set: nothing is read from a prototype', (name) => {
  const own = new References();
  expect(() => own.variables({ A: `\${${name}}` }, 'agents.coder.env')).toThrow(`variable ${name} is not set`);
});

test('a null byte in a value is refused without showing the value', () => {
  const path = join(folder, 'binary');
  writeFileSync(path, 'secret-1\0secret-2');
  expect(fault({ KEY: `file:${path}` })).toBe('agents.coder.env.KEY: the value has a null byte');
});

test('a header from a variable is shown to the gate only, and one of the vault stays a reference', () => {
  const headers = references.headers(
    { Authorization: 'Bearer ${MODEL_KEY}', 'X-Team': 'blue', 'X-Key': 'vault:crm' },
    'agents.desk.headers',
  );
  const { authorization } = headers;
  expect(headers).toMatchObject({ 'x-team': 'blue', 'x-key': new CredentialUse('crm') });
  expect(authorization).toBeInstanceOf(SecretText);
  expect((authorization as SecretText).reveal()).toBe('Bearer sk-12345678');
  expect([String(authorization), JSON.stringify(authorization), inspect(headers, { depth: 9 })].join()).not.toContain(
    'sk-1234',
  );
  expect((authorization as SecretText).redactor?.text('it sent sk-12345678')).toBe(`it sent ${REDACTED}`);
});

test('a header that belongs to the connection, or would break its line, is an error without the value', () => {
  const broken = new References({ environment: { TWO: 'one-secret\nline' } });
  const open = (headers: Record<string, string>) => () => broken.headers(headers, 'agents.desk.headers');
  expect(open({ Host: 'x' })).toThrow('agents.desk.headers.Host: the header must not be given');
  expect(open({ 'X-A': '${TWO}' })).toThrow(/^(?!.*one-secret).*agents\.desk\.headers\.X-A/);
});

test('a program is given a credential of the vault only where its places have env, and the error names the key', async () => {
  const released: string[] = [];
  const places: Record<string, string[]> = { model: ['env'], crm: ['header'] };
  const vault = {
    find: (id: string) => (places[id] === undefined ? undefined : ({ places: places[id] } as never)),
    releaseToProgram: async (id: string, at: string) => {
      released.push(`${id} ${at}`);
      return 'from-the-vault';
    },
  };
  const withVault = new References({ environment, vault });
  const start = (KEY: string) => withVault.variables({ KEY }, 'agents.coder.env')();
  expect(await start('vault:model')).toEqual({ KEY: 'from-the-vault' });
  expect(released).toEqual(['model agents.coder.env.KEY']);
  await expect(start('vault:crm')).rejects.toThrow('agents.coder.env.KEY: the credential "crm" may not be given to a');
  await expect(start('vault:none')).rejects.toThrow('agents.coder.env.KEY: the vault has no credential "none"');
});

test('the files of references are known, and their paths can be taken from another folder', () => {
  const values = { A: 'file:secrets/token', B: '${MODEL_KEY}', C: { credential: 'crm' } };
  expect(referencedFiles(values)).toEqual(['secrets/token']);
  expect(withReferencedFiles(values, (path) => `/srv/${path}`)).toEqual({ ...values, A: 'file:/srv/secrets/token' });
});
