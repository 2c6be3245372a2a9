import type { CredentialRow, CredentialStore, ReceiptRow, VaultSeal } from '../credentials.ts';
import { requireStorable } from '../storable.ts';
import type { Perform } from './perform.ts';

/** Credentials in memory: sealed, as on a disk. */
export function memoryCredentials(perform: Perform): CredentialStore {
  const rows = new Map<string, CredentialRow>();
  let current: VaultSeal | undefined;
  let used: ReceiptRow[] = [];
  return {
    list: () => perform(() => [...rows.values()].sort((a, b) => (a.credentialId < b.credentialId ? -1 : 1))),
    seal: () => perform(() => current),
    put: (added, seal) =>
      perform(() => {
        for (const row of added) requireStorable(row.credentialId, row.description);
        for (const row of added) rows.set(row.credentialId, row);
        current = seal;
      }),
    remove: (credentialId, seal) =>
      perform(() => {
        rows.delete(credentialId);
        current = seal;
      }),
    addReceipts: (added) =>
      perform(() => {
        for (const { caller, host, purpose } of added) requireStorable(caller, host, purpose);
        used.push(...added);
      }),
    receipts: (credentialId, limit) =>
      perform(() =>
        used
          .filter((row) => row.credentialId === credentialId)
          .reverse()
          .slice(0, limit),
      ),
    purgeReceipts: (before) =>
      perform(() => {
        used = used.filter(({ at }) => at >= before);
      }),
  };
}
