import type { RegistrationRow, RegistrationStore } from '../registrations.ts';
import type { Perform } from './perform.ts';

/** Registrations in memory. */
export function memoryRegistrations(perform: Perform): RegistrationStore {
  const rows = new Map<string, RegistrationRow>();
  return {
    put: (row) => perform(() => void rows.set(row.agentId, row)),
    list: () => perform(() => [...rows.values()].sort((a, b) => (a.agentId < b.agentId ? -1 : 1))),
    beat: (agentId, at) =>
      perform(() => {
        const row = rows.get(agentId);
        if (row !== undefined) rows.set(agentId, { ...row, lastHeartbeat: at });
        return row !== undefined;
      }),
    remove: (agentId) => perform(() => rows.delete(agentId)),
  };
}
