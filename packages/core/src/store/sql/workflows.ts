import type { Damage } from '../damage.ts';
import type { Database } from '../sqlite-engine.ts';
import type { NewWorkflow, WorkflowRow } from '../workflows.ts';
import { type Checked, checksumOf, isWhole, wholeRows } from './checked-rows.ts';

export const WORKFLOW_TABLES = `
  CREATE TABLE workflows (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    description TEXT NOT NULL,
    text TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    removed_at BIGINT,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (name, version)
  )
`;

export function workflowReads(database: Database) {
  const list = database.prepare(SELECT_NEWEST);
  const versions = database.prepare(SELECT_VERSIONS);

  return {
    // Where the newest version is damaged its name is left out: an older version must not be used instead.
    listWorkflows: (): WorkflowRow[] => wholeRows(list.all() as StoredRow[], checksumOfWorkflow),

    workflowVersions: (name: string): WorkflowRow[] => wholeRows(versions.all(name) as StoredRow[], checksumOfWorkflow),
  };
}

export function damagedWorkflows(database: Database): () => Damage[] {
  const list = database.prepare(SELECT_NEWEST);
  return () =>
    (list.all() as StoredRow[])
      .filter((row) => !isWhole(row, checksumOfWorkflow))
      .map(({ name }) => ({ kind: 'workflow', owner: '', name }));
}

export function workflowWrites(database: Database) {
  const newest = database.prepare(`${SELECT_VERSIONS} LIMIT 1`);
  const insert = database.prepare(`
    INSERT INTO workflows (name, version, description, text, plan_hash, created_at, removed_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, NULL, ?)`);

  return {
    putWorkflow(workflow: NewWorkflow): WorkflowRow {
      const { name, description, text, planHash, createdAt } = workflow;
      const last = newest.get(name) as StoredRow | undefined;
      const [current] = last === undefined ? [] : wholeRows([last], checksumOfWorkflow);
      if (current?.removedAt === null && current.text === text && current.description === description) return current;
      const row = { ...workflow, version: (last?.version ?? 0) + 1, removedAt: null };
      insert.run(name, row.version, description, text, planHash, createdAt, checksumOfWorkflow(row));
      return row;
    },
  };
}

export function workflowRemovals(database: Database) {
  const versions = database.prepare(SELECT_VERSIONS);
  const remove = database.prepare('UPDATE workflows SET removed_at = ?, checksum = ? WHERE name = ? AND version = ?');

  return {
    removeWorkflow(name: string, at: number): boolean {
      const there = (versions.all(name) as StoredRow[]).filter(({ removedAt }) => removedAt === null);
      for (const { checksum, ...row } of there) {
        const sum = isWhole({ checksum, ...row }, checksumOfWorkflow)
          ? checksumOfWorkflow({ ...row, removedAt: at })
          : checksum;
        remove.run(at, sum, name, row.version);
      }
      return there.length > 0;
    },
  };
}

type StoredRow = Checked<WorkflowRow>;

export function checksumOfWorkflow(row: WorkflowRow): number {
  const { name, version, description, text, planHash, createdAt, removedAt } = row;
  return checksumOf(name, version, description, text, planHash, createdAt, removedAt);
}

export const SELECT_WORKFLOW = `
  SELECT name, version, description, text, plan_hash AS "planHash", created_at AS "createdAt",
    removed_at AS "removedAt", checksum
  FROM workflows w`;
// Removing a name removes all its versions, so the newest one decides whether the name is there.
export const SELECT_NEWEST = `${SELECT_WORKFLOW}
  WHERE version = (SELECT max(version) FROM workflows n WHERE n.name = w.name) AND removed_at IS NULL ORDER BY name`;
const SELECT_VERSIONS = `${SELECT_WORKFLOW} WHERE name = ? ORDER BY version DESC`;
