import type { PinRow, PinStore } from '../pins.ts';

/** Pins in this process's memory. `run` is the store's: it refuses once the store is closed. */
export function pinsInMemory(run: <T>(action: () => T) => Promise<T>): PinStore {
  const pins = new Map<string, PinRow>();
  return {
    put: (row) => run(() => void pins.set(row.name, row)),
    list: () => run(() => [...pins.values()].sort((a, b) => (a.name < b.name ? -1 : 1))),
  };
}
