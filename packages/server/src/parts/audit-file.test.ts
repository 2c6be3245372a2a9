import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry } from '@dragoman/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { AuditFile } from './audit-file.ts';
import { systemClock } from './system-ports.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const log = new SilentLog();

function entry(reqId: string): AuditEntry {
  return {
    ts: 1,
    session_id: 's',
    req_id: reqId,
    correlation_id: '',
    agent_id: 'ada-agent',
    type: 'tool/call/req',
    name: 'echo',
    success: true,
    duration_ms: 1.5,
    error_code: '',
    input_bytes: 10,
    output_bytes: 20,
  };
}

test('every entry is a line, in order, in a file for its owner alone', async () => {
  const path = join(folder, 'audit', 'wire.ndjson');
  {
    await using audit = new AuditFile({ path, clock: systemClock, log });
    for (let number = 0; number < 3; number++) audit.write(entry(String(number)));
  }
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([entry('0'), entry('1'), entry('2')]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file that is full is put aside, and only so many are kept', async () => {
  const path = join(folder, 'wire.ndjson');
  for (let number = 0; number < 6; number++) {
    await using audit = new AuditFile({ path, clock: systemClock, log, maxBytes: 100, kept: 2 });
    audit.write(entry(String(number)));
  }
  expect(readdirSync(folder).sort()).toEqual(['wire.ndjson', 'wire.ndjson.1', 'wire.ndjson.2']);
  const idIn = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8')).req_id;
  expect([idIn('wire.ndjson'), idIn('wire.ndjson.1'), idIn('wire.ndjson.2')]).toEqual(['5', '4', '3']);
});

test('the file that takes the place of a full one is for its owner alone too', async () => {
  const path = join(folder, 'wire.ndjson');
  {
    await using audit = new AuditFile({ path, clock: systemClock, log, maxBytes: 100 });
    audit.write(entry('first'));
    await audit.named('');
    audit.write(entry('second'));
  }
  expect(readdirSync(folder).sort()).toEqual(['wire.ndjson', 'wire.ndjson.1']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('entries that cannot be written are logged, and later ones are written again', async () => {
  const path = join(folder, 'wire.ndjson');
  const log = new SilentLog();
  await using audit = new AuditFile({ path, clock: systemClock, log });
  rmSync(path);
  mkdirSync(path);
  audit.write(entry('lost'));
  await audit.named('').catch(() => {});
  expect(JSON.stringify(log.lines)).toContain('audit lines could not be written');
  rmSync(path, { recursive: true });
  audit.write(entry('kept'));
  expect(await audit.named('kept')).toEqual([entry('kept')]);
});

test('a line that a crash cut off is passed over, and takes none of those after it with it', async () => {
  const path = join(folder, 'wire.ndjson');
  writeFileSync(path, `${JSON.stringify(entry('before'))}\n{"req_id":"after"`);
  await using audit = new AuditFile({ path, clock: systemClock, log });
  audit.write(entry('after'));
  expect(await audit.named('after')).toEqual([entry('after')]);
  expect(await audit.named('before')).toEqual([entry('before')]);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4);
});

test('a line is found by its request, the newest first, in those put aside too, and before it was written', async () => {
  const path = join(folder, 'wire.ndjson');
  await using audit = new AuditFile({ path, clock: systemClock, log, maxBytes: 300, kept: 2 });
  audit.write(entry('old'));
  expect(await audit.named('old')).toEqual([entry('old')]);
  audit.write({ ...entry('old'), ts: 2 });
  audit.write({ ...entry('other'), name: 'old', agent_id: 'cat-agent' });
  expect(await audit.named('old')).toEqual([{ ...entry('old'), ts: 2 }]);
  audit.write(entry('new'));
  const bobs = { ...entry('old'), agent_id: 'bob-agent', ts: 3 };
  audit.write(bobs);
  expect(await audit.named('old')).toEqual([bobs, { ...entry('old'), ts: 2 }]);
  expect(await audit.named('never')).toEqual([]);
});
