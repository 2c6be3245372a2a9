import type { AnonymousRecord } from '../anonymous.ts';
import { ANONYMOUS, ANONYMOUS_KINDS, type AnonymousKind, AnonymousRoom, type AnonymousStore } from '../anonymous.ts';
import type { Perform } from './perform.ts';

/** A record in memory, and how it is taken out. */
export interface RemovableRecord extends AnonymousRecord {
  readonly owner: string;
  remove(): void;
}

/** `records`: everybody's of a kind, in the order they came. */
export function memoryAnonymous(
  perform: Perform,
  records: Record<AnonymousKind, () => readonly RemovableRecord[]>,
): AnonymousStore {
  return {
    sweep: ({ keepBytes, before }) =>
      perform(() => {
        let used = 0;
        for (const { kind, share } of ANONYMOUS_KINDS) {
          const space = new AnonymousRoom({ room: Math.max(0, keepBytes - used) * share, before });
          const own = records[kind]().filter(({ owner }) => owner.startsWith(ANONYMOUS));
          for (const record of [...own].reverse().sort((a, b) => b.at - a.at)) {
            if (!space.keeps(record)) record.remove();
          }
          used += space.used;
        }
        return used;
      }),
  };
}
