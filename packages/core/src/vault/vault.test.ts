import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { nameOfHostPort } from '../gate/host-port.ts';
import { failureOf } from '../refusals/refused.ts';
import type { CredentialRow, CredentialStore, VaultSeal } from '../store/credentials.ts';
import { decodeCredential, type NewCredential } from './decode-credential.ts';
import { environmentKey, fileKey, KEY_FILE, type KeySource, passingKey } from './key-source.ts';
import { sealText } from './seal.ts';
import { openVault, type Vault } from './vault.ts';
import { deriveKeys } from './vault-key.ts';

const SECRET = 'sk-the-secret-itself';
const KEY = 'ab'.repeat(32);
const root = mkdtempSync(join(tmpdir(), 'dragoman-vault-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let store: CredentialStore;
let log: SilentLog;
const clock = new TestClock();
const open = (key: KeySource = environmentKey(KEY)) => openVault({ store, clock, log, key });

beforeEach(() => {
  store = memoryStore().credentials;
  log = new SilentLog();
});

describe('a credential', () => {
  test('is released to a host it is bound to, in the form of its type', async () => {
    const vault = await open();
    await vault.put(credential({ id: 'token', type: 'bearer-token', places: ['header', 'query'] }));
    await vault.put(credential({ id: 'key' }));
    const uses = [HEADER('token'), { id: 'token', place: 'query' } as const, HEADER('key')];
    const { fill, key } = await vault.release(uses, USE);
    expect(uses.map(fill)).toEqual([`Bearer ${SECRET}`, SECRET, SECRET]);
    expect(key).toBe('token@1 key@2');
  });

  test.each([
    ['another host', { host: 'evil.example.com', port: 443 }],
    ['another port', { host: 'api.example.com', port: 8443 }],
    ['a host below it', { host: 'x.api.example.com', port: 443 }],
  ])('is not released to %s, and the refusal is recorded', async (_, to) => {
    const vault = await open();
    await vault.put(credential());
    const failure = failureOf(await vault.release([HEADER('key')], { ...USE, to }).catch((error) => error));
    expect(failure).toMatchObject({ code: 'forbidden' });
    expect(await vault.receipts('key', 9)).toMatchObject([
      { caller: 'ada', host: nameOfHostPort(to), version: 1, outcome: 'refused' },
    ]);
  });

  test('is refused in the same words as one that does not exist', async () => {
    const vault = await open();
    await vault.put(credential());
    const refusal = (id: string) =>
      vault
        .release([HEADER(id)], { ...USE, to: { host: 'b.example.com', port: 443 } })
        .catch((error) => failureOf(error));
    expect(JSON.stringify(await refusal('key'))).toBe(JSON.stringify(await refusal('kez')).replaceAll('kez', 'key'));
    expect(await vault.receipts('kez', 9)).toEqual([]);
  });

  test('is sent only in headers by default', async () => {
    const vault = await open();
    await vault.put(credential());
    for (const place of ['query', 'body'] as const) {
      expect(() => vault.admit([{ id: 'key', place }], USE)).toThrow('cannot be used here');
    }
  });

  test('is recorded with who, when, where and what for, before it is released', async () => {
    const vault = await open();
    await vault.put(credential());
    await vault.release([HEADER('key'), HEADER('key')], USE);
    expect(await vault.receipts('key', 9)).toEqual([
      {
        at: clock.now().getTime(),
        caller: 'ada',
        credentialId: 'key',
        version: 1,
        host: 'api.example.com',
        purpose: 'request r1',
        outcome: 'released',
      },
    ]);
  });

  test('is not released when its use cannot be recorded', async () => {
    const vault = await open();
    await vault.put(credential());
    store.addReceipts = () => Promise.reject(new Error('disk full'));
    const failure = failureOf(await vault.release([HEADER('key')], USE).catch((error) => error));
    expect(failure).toMatchObject({ code: 'store_unavailable' });
  });

  test('is sealed in the store, and never twice the same', async () => {
    const vault = await open();
    await vault.put(credential());
    const [first] = await store.list();
    await vault.put(credential());
    const [second] = await store.list();
    expect(JSON.stringify([first, await store.seal()])).not.toContain(SECRET);
    expect(first?.sealed).not.toBe(second?.sealed);
    expect(first?.nonce).not.toBe(second?.nonce);
    expect([first?.version, second?.version]).toEqual([1, 2]);
  });

  test('has another version after it was removed and made again', async () => {
    const vault = await open();
    await vault.put(credential());
    expect(await vault.remove('key')).toBe(true);
    expect(await vault.remove('key')).toBe(false);
    expect((await vault.put(credential())).version).toBe(2);
  });

  test('is there after a restart', async () => {
    await (await open()).put(credential({ places: ['body'], description: 'for tests' }));
    const vault = await open();
    expect(vault.list()).toMatchObject([
      { id: 'key', hosts: ['api.example.com'], places: ['body'], description: 'for tests', damaged: false },
    ]);
    expect((await vault.release([{ id: 'key', place: 'body' }], USE)).fill({ id: 'key', place: 'body' })).toBe(SECRET);
  });
});

describe('secrets in answers of a host', () => {
  const redacted = (vault: Vault, text: string, host = 'api.example.com') =>
    vault.redactorFor({ host, port: 443 })?.text(text) ?? text;

  test('is searched also for what was replaced, bound elsewhere or removed since the start', async () => {
    const vault = await open();
    await vault.put(credential({ value: 'the first secret' }));
    await vault.put(credential({ value: 'the next secret' }));
    expect(redacted(vault, 'the first secret, the next secret')).toBe('[redacted], [redacted]');
    await vault.rotate('cd'.repeat(32));
    await vault.put(credential({ value: 'the last secret', hosts: ['b.example.com'] }));
    expect(redacted(vault, 'the first secret, the next secret')).toBe('[redacted], [redacted]');
    await vault.remove('key');
    expect(redacted(vault, 'the first secret, the next secret')).toBe('[redacted], [redacted]');
    expect(redacted(vault, 'the last secret, the next secret', 'b.example.com')).toBe('[redacted], the next secret');
    expect(redacted(vault, 'the last secret')).toBe('the last secret');
  });

  test('only the last 64 of them are searched for', async () => {
    const vault = await open();
    for (let number = 0; number <= 65; number += 1) await vault.put(credential({ value: `secret number ${number}.` }));
    expect(redacted(vault, 'secret number 0. secret number 1.')).toBe('secret number 0. [redacted]');
  });

  test('is searched for all of them where the same one is put again and again', async () => {
    const vault = await open();
    await vault.put(credential({ value: 'the first secret' }));
    for (let time = 0; time <= 65; time += 1) await vault.put(credential({ value: 'the next secret' }));
    expect(redacted(vault, 'the first secret, the next secret')).toBe('[redacted], [redacted]');
  });
});

describe('a row that was changed outside of the vault', () => {
  const FIELDS = ['credentialId', 'type', 'hosts', 'places', 'nonce', 'sealed'] as const;

  test.each(FIELDS)('in any byte of %s is refused, and that is recorded', async (field) => {
    await (await open()).put(credential());
    const [row] = await store.list();
    const text = row?.[field] ?? '';
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`;
      const seal = (await store.seal()) as VaultSeal;
      await store.remove('key', seal, seal.mac);
      const id = field === 'credentialId' ? changed : 'key';
      await replaceRow({ ...row, [field]: changed } as CredentialRow);
      const vault = await open();
      expect(vault.find(id)?.damaged, `${field} ${at}`).toBe(true);
      const failure = failureOf(await vault.release([HEADER(id)], USE).catch((error) => error));
      expect(failure?.code).toBe('forbidden');
      expect((await vault.receipts(id, 1))[0]?.outcome).toBe('damaged');
      await store.remove(id, seal, seal.mac);
    }
    expect(log.lines.at(-1)).toMatchObject({ level: 'error' });
  });

  test.each(['sealed', 'nonce'] as const)('cut off anywhere in %s is refused', async (field) => {
    await (await open()).put(credential());
    const [row] = await store.list();
    for (let length = 0; length < (row?.[field].length ?? 0); length += 1) {
      await replaceRow({ ...row, [field]: row?.[field].slice(0, length) } as CredentialRow);
      expect((await open()).list()[0]?.damaged).toBe(true);
    }
  });

  test('exchanged for an older one of the same id, or for one that was removed, is refused', async () => {
    const vault = await open();
    await vault.put(credential({ value: 'the old secret' }));
    const [old] = await store.list();
    await vault.put(credential());
    await replaceRow(old as CredentialRow);
    expect((await open()).list()[0]?.damaged).toBe(true);
    await (await open()).remove('key');
    await (await open()).put(credential());
    await replaceRow(old as CredentialRow);
    expect((await open()).list()[0]?.damaged).toBe(true);
  });

  test("exchanged for another credential's is refused, and the others are as good as before", async () => {
    const vault = await open();
    await vault.put(credential({ id: 'a' }));
    await vault.put(credential({ id: 'b', value: 'another secret' }));
    const [a, b] = await store.list();
    await replaceRow({ ...a, nonce: b?.nonce, sealed: b?.sealed } as CredentialRow);
    const again = await open();
    expect(again.list().map(({ damaged }) => damaged)).toEqual([true, false]);
    expect((await again.release([HEADER('b')], USE)).fill(HEADER('b'))).toBe('another secret');
    // Setting it again fixes it.
    await again.put(credential({ id: 'a' }));
    expect((await open()).list().map(({ damaged }) => damaged)).toEqual([false, false]);
  });

  test('with its seal is refused too', async () => {
    await (await open()).put(credential());
    const seal = await store.seal();
    await store.put([], { ...seal, manifest: '{"lastVersion":9,"records":{}}' } as never, seal?.mac ?? null);
    expect((await open()).list()[0]?.damaged).toBe(true);
  });

  async function replaceRow(row: CredentialRow): Promise<void> {
    const seal = await store.seal();
    if (seal === undefined) throw new Error('there is no seal');
    await store.put([row], seal, seal.mac);
  }
});

describe('the key', () => {
  test('is a file for its owner alone when none is given, and no two vaults have the same', async () => {
    const [one, two] = [folder(), folder()];
    await open(fileKey({ folder: one, log }));
    store = memoryStore().credentials;
    await open(fileKey({ folder: two, log }));
    const [first, second] = [one, two].map((place) => readFileSync(join(place, KEY_FILE), 'utf8'));
    expect(first).toMatch(/^[\w-]{43}\n$/);
    expect(first).not.toBe(second);
    expect(statSync(join(one, KEY_FILE)).mode & 0o777).toBe(0o600);
  });

  test('in a file that others can read is closed to them, with a warning', async () => {
    const place = folder();
    await open(fileKey({ folder: place, log }));
    chmodSync(join(place, KEY_FILE), 0o644);
    await open(fileKey({ folder: place, log }));
    expect(statSync(join(place, KEY_FILE)).mode & 0o777).toBe(0o600);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
  });

  test('that is another one, or gone, opens nothing: no new one is made in its place', async () => {
    const place = folder();
    await (await open(fileKey({ folder: place, log }))).put(credential());
    await expect(open()).rejects.toThrow('encrypted with a different key than the one in DRAGOMAN_VAULT_KEY');
    rmSync(join(place, KEY_FILE));
    await expect(open(fileKey({ folder: place, log }))).rejects.toThrow(KEY_FILE);
    expect(existsSync(join(place, KEY_FILE))).toBe(false);
  });

  test.each(['short', '0123456789abcde'])('that is too easy to guess is refused: %s', (text) => {
    expect(() => environmentKey(text)).toThrow('at least 16 characters');
  });

  test('is salted: the same one in two vaults, or a second time in one, leaves nothing the same', async () => {
    const passphrase = 'a passphrase that is long enough';
    const seals: (VaultSeal | undefined)[] = [];
    for (let round = 0; round < 2; round += 1) {
      store = memoryStore().credentials;
      const vault = await open(environmentKey(passphrase));
      seals.push(await store.seal());
      await vault.rotate(passphrase);
      seals.push(await store.seal());
    }
    expect(new Set(seals.map((seal) => seal?.salt)).size).toBe(4);
    expect(new Set(seals.map((seal) => seal?.keyCheck)).size).toBe(4);
  });

  test('may be a passphrase', async () => {
    await (await open(environmentKey('correct horse battery staple'))).put(credential());
    await open(environmentKey('correct horse battery staple'));
    await expect(open(environmentKey('correct horse battery stable'))).rejects.toThrow(
      'encrypted with a different key',
    );
  });
});

describe('changing the key', () => {
  test('seals everything again without a restart; only the new key opens it then', async () => {
    const place = folder();
    const vault = await open(fileKey({ folder: place, log }));
    await vault.put(credential());
    const [before] = await store.list();
    const oldKey = readFileSync(join(place, KEY_FILE), 'utf8');
    expect(await vault.rotate()).toBeUndefined();
    const [after] = await store.list();
    expect(after?.sealed).not.toBe(before?.sealed);
    expect(readFileSync(join(place, KEY_FILE), 'utf8')).not.toBe(oldKey);
    expect(statSync(join(place, KEY_FILE)).mode & 0o777).toBe(0o600);
    expect((await vault.release([HEADER('key')], USE)).fill(HEADER('key'))).toBe(SECRET);
    expect((await open(fileKey({ folder: place, log }))).list()[0]?.damaged).toBe(false);
    writeFileSync(join(place, KEY_FILE), oldKey);
    await expect(open(fileKey({ folder: place, log }))).rejects.toThrow('encrypted with a different key');
  });

  test.each(['before', 'after'])('that is cut short %s the commit leaves a vault that opens', async (when) => {
    const place = folder();
    const vault = await open(fileKey({ folder: place, log }));
    await vault.put(credential());
    const put = store.put.bind(store);
    const crash = new Error('killed');
    store.put = async (...change) => {
      if (when === 'after') await put(...change);
      throw crash;
    };
    await expect(vault.rotate()).rejects.toBe(crash);
    store.put = put;
    expect(existsSync(join(place, `${KEY_FILE}.next`))).toBe(true);
    const again = await open(fileKey({ folder: place, log }));
    expect((await again.release([HEADER('key')], USE)).fill(HEADER('key'))).toBe(SECRET);
    expect(existsSync(join(place, `${KEY_FILE}.next`))).toBe(false);
  });

  test('of the environment needs the new one, and a good one', async () => {
    const vault = await open();
    await vault.put(credential());
    expect((await vault.rotate())?.message).toContain('DRAGOMAN_VAULT_KEY');
    expect((await vault.rotate('short'))?.message).toContain('at least 16 characters');
    expect(await vault.rotate('cd'.repeat(32))).toBeUndefined();
    await expect(open()).rejects.toThrow('encrypted with a different key');
    expect((await open(environmentKey('cd'.repeat(32)))).list()[0]?.damaged).toBe(false);
  });
});

describe('input of the administration', () => {
  test('is taken with its hosts in one spelling', () => {
    const hosts = ['API.Example.com', 'api.example.com:443', 'bücher.example', '[::1]:9000', '0x7f.1:80', 'a.example.'];
    const outcome = decodeCredential('a', { type: 'api-key', value: SECRET, hosts });
    expect(outcome.ok && outcome.value.hosts).toEqual([
      'api.example.com',
      'xn--bcher-kva.example',
      '[::1]:9000',
      '127.0.0.1:80',
      'a.example',
    ]);
  });

  test.each([
    ['../a', {}, '/id'],
    ['', {}, '/id'],
    ['a', { type: 'secret' }, '/type'],
    ['a', { value: 'abc' }, '/value'],
    ['a', { value: `${SECRET}\n` }, '/value'],
    ['a', { value: 7 }, '/value'],
    ['a', { description: 'for\0tests' }, '/description'],
    ['a', { hosts: [] }, '/hosts'],
    ['a', { hosts: ['https://api.example.com'] }, '/hosts/0'],
    ['a', { hosts: ['*.example.com'] }, '/hosts/0'],
    ['a', { hosts: ['api.example.com:0'] }, '/hosts/0'],
    ['a', { hosts: ['api.example.com/x'] }, '/hosts/0'],
    ['a', { hosts: ['u@api.example.com'] }, '/hosts/0'],
    ['a', { places: ['cookie'] }, '/places/0'],
    ['a', { colour: 'red' }, '/colour'],
  ])('is refused with the place of the fault: %j %j', (id, fields, pointer) => {
    const outcome = decodeCredential(id, { type: 'api-key', value: SECRET, hosts: ['a.example'], ...fields });
    expect(outcome.ok ? [] : outcome.issues.map((issue) => issue.pointer)).toContain(pointer);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });
});

test('a vault that forgets has a key that is gone with it', async () => {
  const vault = await open(passingKey());
  await vault.put(credential());
  expect((await vault.release([HEADER('key')], USE)).fill(HEADER('key'))).toBe(SECRET);
});

const HEADER = (id: string) => ({ id, place: 'header' }) as const;
const USE = { caller: 'ada', to: { host: 'api.example.com', port: 443 }, purpose: 'request r1' };

function credential(fields: Partial<NewCredential> = {}): NewCredential {
  return {
    id: 'key',
    type: 'api-key',
    value: SECRET,
    hosts: ['api.example.com'],
    places: ['header'],
    description: null,
    ...fields,
  };
}

function folder(): string {
  return mkdtempSync(join(root, 'v-'));
}

test("two processes that share a vault seal each other's secrets in, not out", async () => {
  const [one, other] = [await open(), await open()];
  await one.put(credential({ id: 'a' }));
  await other.put(credential({ id: 'b' }));
  await one.put(credential({ id: 'c' }));
  expect(await other.remove('b')).toBe(true);
  const last = await open();
  expect(last.list().map(({ id, damaged }) => [id, damaged])).toEqual([
    ['a', false],
    ['c', false],
  ]);
});

describe('a secret of the server itself', () => {
  test('is made once, by the first process that needs it, and is the same in all', async () => {
    const [one, other] = [await open(), await open()];
    const made = await Promise.all([
      one.keep('callbacks.pem', () => 'by one'),
      other.keep('callbacks.pem', () => 'by other'),
    ]);
    expect(made[0]).toBe(made[1]);
    expect(await (await open()).keep('callbacks.pem', () => 'by a third')).toBe(made[0]);
    expect(JSON.stringify(await store.list())).not.toContain(made[0]);
  });

  test('cannot be listed, found, removed, released or handed to a program', async () => {
    const vault = await open();
    await vault.keep('callbacks.pem', () => SECRET);
    expect(vault.list()).toEqual([]);
    const id = 'server:callbacks.pem';
    expect(vault.find(id)).toBeUndefined();
    expect(await vault.remove(id)).toBe(false);
    await expect(vault.release([HEADER(id)], USE)).rejects.toThrow();
    await expect(vault.releaseToProgram(id, 'agents.a')).rejects.toThrow();
    expect(vault.redactorFor(USE.to)).toBeUndefined();
  });

  test('survives a change of the key, and is refused where it was changed outside of the vault', async () => {
    await (await open()).keep('callbacks.pem', () => SECRET);
    await (await open()).rotate('cd'.repeat(32));
    const key = environmentKey('cd'.repeat(32));
    expect(await (await open(key)).keep('callbacks.pem', () => 'another')).toBe(SECRET);
    const [row] = await store.list();
    const seal = await store.seal();
    await store.put(
      [{ ...(row as CredentialRow), hosts: '["evil.example"]' }],
      seal as VaultSeal,
      (seal as VaultSeal).mac,
    );
    await expect((await open(key)).keep('callbacks.pem', () => 'another')).rejects.toThrow('outside of the vault');
  });
});

describe('a text that is sealed for a receiver', () => {
  test('is opened for its purpose alone, also by other processes and after the key has changed', async () => {
    const sealed = await (await open()).seal(SECRET, 'config one');
    expect(sealed).not.toContain(SECRET);
    expect(await (await open()).unseal(sealed, 'config one')).toBe(SECRET);
    expect(await (await open()).unseal(sealed, 'config two')).toBeUndefined();
    await (await open()).rotate('cd'.repeat(32));
    const key = environmentKey('cd'.repeat(32));
    expect(await (await open(key)).unseal(sealed, 'config one')).toBe(SECRET);
  });

  test('is opened if an earlier version sealed it with the key of the vault', async () => {
    const vault = await open();
    const { sealing } = await deriveKeys(KEY, Buffer.from((await store.seal())?.salt ?? '', 'base64'));
    expect(await vault.unseal(sealText(SECRET, 'config', sealing), 'config')).toBe(SECRET);
  });
});

describe('a vault that another process changes', () => {
  test('has the changes after it was read again, and still recognizes what was replaced', async () => {
    const [one, other] = [await open(), await open()];
    await one.put(credential());
    await other.reload();
    expect(other.find('key')?.version).toBe(1);
    await one.put(credential({ value: 'sk-the-next-secret' }));
    await other.reload();
    expect((await other.release([HEADER('key')], USE)).fill(HEADER('key'))).toBe('sk-the-next-secret');
    expect(other.redactorFor(USE.to)?.text(`was ${SECRET}`)).not.toContain(SECRET);
    await one.remove('key');
    await other.reload();
    expect(other.find('key')).toBeUndefined();
  });

  test('between the reading of its seal and its rows is read again: no credential is taken for damaged', async () => {
    const [one, other] = [await open(), await open()];
    const list = store.list.bind(store);
    let isBetween = true;
    store.list = async () => {
      if (isBetween) {
        isBetween = false;
        await one.put(credential());
      }
      return list();
    };
    await other.reload();
    expect(other.find('key')?.damaged).toBe(false);
    expect(log.lines).toEqual([]);
    isBetween = true;
    expect((await open()).list().map(({ damaged }) => damaged)).toEqual([false]);
  });

  test('follows a change of the key where it has the next one too, and refuses where it has not', async () => {
    const [now, next] = [KEY, 'cd'.repeat(32)];
    const [one, other, third] = [
      await open(environmentKey(now, next)),
      await open(environmentKey(now, next)),
      await open(),
    ];
    await one.put(credential());
    expect(await one.rotate()).toBeUndefined();
    await other.reload();
    expect((await other.release([HEADER('key')], USE)).fill(HEADER('key'))).toBe(SECRET);
    await other.put(credential({ id: 'second' }));
    expect((await open(environmentKey(next))).list().map(({ damaged }) => damaged)).toEqual([false, false]);
    await expect(third.reload()).rejects.toThrow('changed the key of the vault');
    expect(() => environmentKey(now, 'short')).toThrow('DRAGOMAN_VAULT_KEY_NEXT');
  });
});
