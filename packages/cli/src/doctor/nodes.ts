import type { NodeReport } from '@dragoman/client';
import { broken, type DoctorFinding, sound } from './finding.ts';

/** Checks that the servers that share a database fit together. Skipped for a single server. */
export function checkNodes({ nodes, database, warnings }: NodeReport): DoctorFinding[] {
  if (database === null) return [];
  const live = nodes
    .filter(({ state }) => state === 'live')
    .map(({ name, node, version }) => `${name} (${node}, version ${version})`);
  const standbys = database.synchronous_standby_names === '' ? 'none' : database.synchronous_standby_names;
  return [
    sound('nodes', `${live.length} live: ${live.join(', ')}`),
    sound(
      'database',
      `PostgreSQL ${database.version}, schema version ${database.schema_version}, synchronous_commit ${database.synchronous_commit}, synchronous standbys: ${standbys}`,
    ),
    ...warnings.map(({ code, message, suggestion }) => broken(code.replaceAll('_', ' '), message, suggestion)),
  ];
}
