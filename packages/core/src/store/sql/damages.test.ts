import { beforeEach, describe, expect, test } from 'vitest';
import { frame, requestRow } from '../requests.contract.ts';
import { openInMemory } from '../sqlite-database.ts';
import { type Database, loadEngine } from '../sqlite-engine.ts';
import { endDamaged } from './damages.ts';
import { prepareOperations } from './operations.ts';
import { executionValues, framesValues, requestValues } from './values.ts';

const DAMAGED = expect.objectContaining({ code: 'store_damaged' });
/** Of the first opening of a database. */
const EPOCH = 1;
let database: Database;
let reads: ReturnType<typeof prepareOperations>['reads'];
let writes: ReturnType<typeof prepareOperations>['writes'];
let removals: ReturnType<typeof prepareOperations>['removals'];

beforeEach(async () => {
  database = openInMemory(await loadEngine());
  ({ reads, writes, removals } = prepareOperations(database));
});

describe('an open request that cannot be read', () => {
  beforeEach(() => {
    for (const requestId of ['sound', 'bad']) {
      const row = requestRow({ requestId });
      const id = writes.accept(...requestValues(row, { letter: { thread: null } })) as number;
      writes.append(id, EPOCH, framesValues([frame(0)]));
    }
  });

  test.each([
    ['its envelope', "UPDATE requests SET envelope = '[]' WHERE request_id = 'bad'"],
    ['a frame', "UPDATE frames SET text = '[]' WHERE request = (SELECT id FROM requests WHERE request_id = 'bad')"],
  ])('because of %s is ended, kept as damaged, and leaves its neighbour alone', (_, damage) => {
    database.exec(damage);
    expect(endDamaged(database)).toEqual([{ kind: 'request', owner: 'ann', name: 'bad' }]);
    database.exec('UPDATE open_requests SET epoch = 0; UPDATE letters SET epoch = 0');
    expect(writes.claimRequests(10)).toMatchObject([{ row: { requestId: 'sound' } }]);
    expect(writes.claimLetters(10)).toMatchObject([{ requestId: 'sound' }]);
    expect(() => reads.find(requestRow({ requestId: 'bad' }))).toThrow(DAMAGED);
    expect(reads.listDamages()).toEqual([{ kind: 'request', owner: 'ann', name: 'bad' }]);
    expect(endDamaged(database)).toEqual([]);
  });

  test('is known as damaged until it is forgotten', () => {
    database.exec("UPDATE requests SET envelope = '[]' WHERE request_id = 'bad'");
    endDamaged(database);
    expect(removals.purge(Number.MAX_SAFE_INTEGER, 0).purged).toBe(1);
    expect(reads.listDamages()).toEqual([]);
  });
});

test.each([
  ['the request', "UPDATE executions SET request = '[]' WHERE execution_id = 'bad'"],
  [
    'an effect',
    "UPDATE execution_effects SET note = '[]' WHERE execution = (SELECT id FROM executions WHERE execution_id = 'bad')",
  ],
])('an open execution with damage in %s is ended, listed as an error, and not run again', (_, damage) => {
  for (const executionId of ['sound', 'bad']) {
    const key = { owner: 'ann', executionId };
    const row = { ...key, digest: 'd', idempotencyKey: null, request: '{}', acceptedAt: 1, end: null };
    const id = writes.acceptExecution(executionValues(row)) as number;
    writes.appendEffects({ id, epoch: EPOCH }, [{ position: 0, key: 'k', kind: 'call', note: '{}', bytes: null }]);
  }
  database.exec(damage);
  expect(endDamaged(database)).toEqual([{ kind: 'execution', owner: 'ann', name: 'bad' }]);
  database.exec('UPDATE open_executions SET epoch = 0');
  expect(writes.claimExecutions(10)).toMatchObject([{ row: { executionId: 'sound' } }]);
  expect(() => reads.findExecution({ owner: 'ann', executionId: 'bad' })).toThrow(DAMAGED);
  const page = { before: Number.MAX_SAFE_INTEGER, limit: 10, status: null };
  expect(reads.listExecutions('ann', page, '').newest).toMatchObject([
    { executionId: 'bad', status: 'error' },
    { executionId: 'sound', status: 'running' },
  ]);
});

describe.each([
  {
    kind: 'key',
    table: 'keys',
    column: 'role',
    put: () => writes.putKey(key('k1')),
    list: () => reads.listKeys().length,
    damage: { kind: 'key', owner: 'ann', name: 'k1' },
  },
  {
    kind: 'agent',
    table: 'agents',
    column: 'definition',
    put: () => writes.putAgent({ agentId: 'a1', definition: '{}', createdAt: 1 }),
    list: () => reads.listAgents().length,
    damage: { kind: 'agent', owner: '', name: 'a1' },
  },
  {
    kind: 'api',
    table: 'apis',
    column: 'definition',
    put: () => writes.putApi({ apiId: 'a1', definition: '{}', createdAt: 1 }),
    list: () => reads.listApis().length,
    damage: { kind: 'api', owner: '', name: 'a1' },
  },
  {
    kind: 'registration',
    table: 'registrations',
    column: 'endpoint',
    put: () => writes.putRegistration(REGISTRATION),
    list: () => reads.listRegistrations().length,
    damage: { kind: 'registration', owner: 'ann', name: 'r1' },
  },
])('a row of $table', ({ table, column, put, list, damage }) => {
  beforeEach(() => put());

  test('that has changed is left out and reported as damaged, until it is stored again', () => {
    expect([list(), reads.listDamages()]).toEqual([1, []]);
    database.exec(`UPDATE ${table} SET ${column} = ${column} || 'x'`);
    expect([list(), reads.listDamages()]).toEqual([0, [damage]]);
    put();
    expect([list(), reads.listDamages()]).toEqual([1, []]);
  });

  test('that was written before there were checksums is read', () => {
    database.exec(`UPDATE ${table} SET checksum = NULL`);
    expect([list(), reads.listDamages()]).toEqual([1, []]);
  });
});

test('a revoked key is whole, and one that lost its revocation is damaged', () => {
  writes.putKey(key('k1'));
  expect(removals.revokeKey('k1', 5)).toBe(true);
  expect(reads.listKeys()).toEqual([{ ...key('k1'), revokedAt: 5 }]);
  database.exec('UPDATE keys SET revoked_at = NULL');
  expect(reads.listKeys()).toEqual([]);
});

test('a stored workflow whose newest version is damaged is left out and reported, until it is stored again', () => {
  const workflow = { name: 'w', description: '', text: '{}', planHash: 'h', createdAt: 1 };
  writes.putWorkflow({ ...workflow, text: 'older' });
  writes.putWorkflow(workflow);
  expect([reads.listWorkflows().length, reads.listDamages()]).toEqual([1, []]);
  database.exec("UPDATE workflows SET text = 'x' WHERE version = 2");
  expect([reads.listWorkflows(), reads.listDamages()]).toEqual([[], [{ kind: 'workflow', owner: '', name: 'w' }]]);
  expect(writes.putWorkflow(workflow)).toMatchObject({ version: 3 });
  expect([reads.listWorkflows().length, reads.listDamages()]).toEqual([1, []]);
  expect(reads.workflowVersions('w').map(({ version }) => version)).toEqual([3, 1]);
});

test('a removed workflow is whole, and one that lost its removal is damaged', () => {
  writes.putWorkflow({ name: 'w', description: '', text: '{}', planHash: 'h', createdAt: 1 });
  removals.removeWorkflow('w', 5);
  expect(reads.workflowVersions('w')).toMatchObject([{ version: 1, removedAt: 5 }]);
  database.exec('UPDATE workflows SET removed_at = NULL');
  expect(reads.listWorkflows()).toEqual([]);
});

test('a heartbeat leaves a registration whole', () => {
  writes.putRegistration(REGISTRATION);
  writes.beatRegistration('r1', 99);
  expect(reads.listRegistrations()).toEqual([{ ...REGISTRATION, lastHeartbeat: 99 }]);
});

function key(keyId: string) {
  const rest = {
    agentId: 'ann',
    role: 'agent',
    description: null,
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
  } as const;
  return { keyId, hash: `hash of ${keyId}`, ...rest };
}

const REGISTRATION = {
  agentId: 'r1',
  owner: 'ann',
  card: '{}',
  endpoint: 'https://one.example',
  registeredAt: 1,
  lastHeartbeat: 2,
};
