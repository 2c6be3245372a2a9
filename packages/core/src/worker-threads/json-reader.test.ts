import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { failureOf } from '../refusals/refused.ts';
import { JsonReader } from './json-reader.ts';

const reader = new JsonReader();
afterAll(() => reader[Symbol.asyncDispose]());

const filled = (text: string) => `{"fill":"${'x'.repeat(70_000)}","text":${text}}`;
const alice = { caller: 'alice' };

describe('a reader', () => {
  test('reads a small text at once, and a long one later', async () => {
    expect(reader.read('{"a":1}', alice)).toEqual({ ok: true, value: { a: 1 }, warnings: [] });
    const reading = reader.read(filled('"äé€😀"'), alice);
    expect(reading).toBeInstanceOf(Promise);
    expect(await reading).toMatchObject({ ok: true, value: { text: 'äé€😀' } });
  });

  test('sends a long text to its thread, and parses here only one that was found sound', async () => {
    const sent = vi.spyOn(Worker.prototype, 'postMessage');
    const parsed = vi.spyOn(JSON, 'parse');
    const counts = () => [sent, parsed].map(({ mock }) => mock.calls.length);
    const unsound = filled('[1, 1e400]');
    for (const source of [unsound, Buffer.from(unsound)]) await reader.read(source, alice);
    expect(counts()).toEqual([2, 0]);
    expect(sent.mock.calls[0]?.[0]).toMatchObject({ source: unsound });
    await reader.read(filled('1'), alice);
    expect(counts()).toEqual([3, 1]);
    await reader.read('1', alice);
    expect(sent).toHaveBeenCalledTimes(3);
    sent.mockRestore();
    parsed.mockRestore();
  });

  test('reads bytes as it reads text, and leaves them to their owner', async () => {
    const bytes = Buffer.from(filled('"äé€😀"'));
    expect(await reader.read(bytes, alice)).toMatchObject({ ok: true, value: { text: 'äé€😀' } });
    expect(bytes.length).toBeGreaterThan(70_000);
  });

  test.each([
    ['{"a":1,"a":2}', 'duplicate_key'],
    ['[1', 'not_json'],
    ['"\\ud800"', 'lone_surrogate'],
    ['1e400', 'inexact_number'],
    [`${'['.repeat(64)}${']'.repeat(64)}`, 'too_deep'],
    [`[${Array(100_000).fill('[]').join(',')}]`, 'too_many'],
  ])('refuses in a long text what it refuses in a small one: %s', async (text, code) => {
    const read = await reader.read(filled(text), alice);
    expect(read).toMatchObject({ ok: false, issues: [{ code }] });
  });

  test('refuses bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(filled('1')), Buffer.from([0xff])]);
    expect(await reader.read(bytes, alice)).toMatchObject({ ok: false, issues: [{ code: 'not_utf8' }] });
  });

  test('holds long texts to the limits it is given', async () => {
    const text = filled(`[${Array(100_000).fill('[]').join(',')}]`);
    expect(await reader.read(text, { ...alice, limits: { nodes: 200_000 } })).toMatchObject({ ok: true });
    const id = filled('12345678901234567890');
    expect(await reader.read(id, alice)).toMatchObject({ ok: true });
    expect(await reader.read(id, { ...alice, limits: { numbers: 'exact' } })).toMatchObject({ ok: false });
  });
});

describe('a text that waits for the thread', () => {
  test('is limited for each caller and for all together', async () => {
    const small = new JsonReader({ maxPerCaller: 150_000, maxWaiting: 300_000 });
    const text = filled('1');
    const outcomes = ['alice', 'alice', 'alice', 'bob', 'carol', 'dave'].map((caller) =>
      Promise.resolve(small.read(text, { caller })).then(
        (read) => read.ok,
        (error) => failureOf(error)?.code,
      ),
    );
    expect(await Promise.all(outcomes)).toEqual([true, true, 'busy', true, true, 'busy']);
    expect(await small.read(text, { caller: 'dave' })).toMatchObject({ ok: true });
    await small[Symbol.asyncDispose]();
  });

  test('is not limited for those who wait', async () => {
    const small = new JsonReader({ maxPerCaller: 1, maxWaiting: 1 });
    const reads = Array.from({ length: 3 }, () => small.read(filled('1'), { caller: 'agent', waits: true }));
    expect(await Promise.all(reads)).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
    await small[Symbol.asyncDispose]();
  });

  test('is read by turns: a sender of many texts does not delay others', async () => {
    const order: string[] = [];
    const read = async (caller: string) => {
      await reader.read(filled('1'), { caller });
      order.push(caller);
    };
    await Promise.all([read('mallory'), read('mallory'), read('mallory'), read('mallory'), read('bob')]);
    expect(order.indexOf('bob')).toBeLessThanOrEqual(2);
  });

  test('is refused when the reader ends', async () => {
    const ending = new JsonReader();
    const reading = Promise.resolve(ending.read(filled('1'), alice)).catch((error) => failureOf(error)?.code);
    await ending[Symbol.asyncDispose]();
    expect(await reading).toBe('interrupted');
  });
});
