import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEntry } from '@dragoman/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SilentLog } from '../../core/test-support/silent-log.ts';
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

test('a line is found by its request, the newest first, in those put aside too, and before it was written', async () => {
  const path = join(folder, 'wire.ndjson');
  await using audit = new AuditFile({ path, clock: systemClock, log, maxBytes: 300, kept: 2 });
  audit.write(entry('old'));
  expect(await audit.named('old')).toEqual([entry('old')]);
  audit.write({ ...entry('old'), ts: 2 });
  audit.write({ ...entry('other'), name: '"old"' });
  expect(await audit.named('old')).toEqual([{ ...entry('old'), ts: 2 }]);
  audit.write(entry('new'));
  const bobs = { ...entry('old'), agent_id: 'bob-agent', ts: 3 };
  audit.write(bobs);
  expect(await audit.named('old')).toEqual([bobs, { ...entry('old'), ts: 2 }]);
  expect(await audit.named('never')).toEqual([]);
});
