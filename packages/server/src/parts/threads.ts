import { JsonReader, Signatures } from '@dragoman/core';
import type { ServerPart } from './part.ts';

export interface ThreadsPart extends ServerPart {
  readonly signatures: Signatures;
  readonly reader: JsonReader;
}

/** The threads that check signatures and read large JSON for every endpoint. */
export function openThreadsPart(): ThreadsPart {
  const signatures = new Signatures();
  const reader = new JsonReader();
  return {
    signatures,
    reader,
    stop: async () => {
      await reader[Symbol.asyncDispose]();
      await signatures[Symbol.asyncDispose]();
    },
  };
}
