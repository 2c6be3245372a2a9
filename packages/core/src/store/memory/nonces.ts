import type { NonceRow, NonceStore, NonceUse } from '../nonces.ts';
import type { Perform } from './perform.ts';

/** Nonces in memory; `record` is `use` for who performs something already. */
export function memoryNonces(perform: Perform): NonceStore & { record(row: NonceRow): NonceUse } {
  const rows = new Map<string, NonceRow>();
  let forgotten = 0;
  const record = (row: NonceRow): NonceUse => {
    const name = `${row.agentId}\n${row.nonce}`;
    const earlier = rows.get(name);
    if (earlier !== undefined) return earlier.digest === row.digest ? 'same' : 'reused';
    rows.set(name, row);
    return 'fresh';
  };
  return {
    record,
    use: (row) => perform(() => record(row)),
    forgotten: () => perform(() => forgotten),
    count: () => perform(() => rows.size),
    purge: (before) =>
      perform(() => {
        const old = [...rows].filter(([, { usedAt }]) => usedAt < before);
        for (const [name, { usedAt }] of old) {
          rows.delete(name);
          forgotten = Math.max(forgotten, usedAt);
        }
        return old.length;
      }),
  };
}
