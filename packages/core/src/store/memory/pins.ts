import type { PinRow, PinStore } from '../pins.ts';
import type { Perform } from './perform.ts';

/** Pins in memory. */
export function memoryPins(perform: Perform): PinStore {
  const pins = new Map<string, PinRow>();
  return {
    put: (row) => perform(() => void pins.set(row.name, row)),
    list: () => perform(() => [...pins.values()].sort((a, b) => (a.name < b.name ? -1 : 1))),
  };
}
