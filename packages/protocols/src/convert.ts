import type { Dialect, Stamp } from './dialect.ts';
import { difference } from './difference.ts';
import type { Json } from './json.ts';
import { accept, type Issue, type Outcome, reject } from './outcome.ts';
import { show } from './validation.ts';

/** A request converted to another dialect. */
export interface Conversion {
  readonly result: Json;
  /** Every place of the original message that the result lost. */
  readonly losses: readonly Loss[];
  /** The warnings from reading the original message. */
  readonly warnings: readonly Issue[];
}

export interface Loss {
  readonly pointer: string;
  readonly why: string;
}

export interface ConvertOptions {
  readonly from: Dialect<unknown>;
  readonly to: Dialect<unknown>;
  readonly stamp: Stamp;
  readonly lenient?: boolean;
}

/**
 * Converts a request of one dialect to another, through the hub. Losses are measured: the result is converted
 * back to the first dialect, and every value that does not return was lost.
 */
export function convert(json: Json, { from, to, stamp, lenient = false }: ConvertOptions): Outcome<Conversion> {
  const given = from.decode(json, stamp.now, { lenient });
  if (!given.ok) return given;
  const envelope = from.toEnvelope(given.value);
  if (envelope === undefined) return reject(notARequest(from));
  const converted = to.fromEnvelope(envelope, stamp);
  if (!converted.ok) return converted;
  const result = to.encode(converted.value);
  const losses = difference(from.encode(given.value), convertBack(result, { from, to, stamp, lenient })).map(
    ({ pointer, after }): Loss => ({
      pointer,
      why: after === undefined ? `${to.name} has no place for it` : `it comes back from ${to.name} as ${show(after)}`,
    }),
  );
  return accept({ result, losses, warnings: given.warnings });
}

function convertBack(result: Json, { from, to, stamp, lenient = false }: ConvertOptions): Json | undefined {
  const read = to.decode(result, stamp.now, { lenient });
  if (!read.ok) throw new Error(`${to.name} does not read what it wrote: ${JSON.stringify(read.issues)}`);
  const envelope = to.toEnvelope(read.value);
  if (envelope === undefined) return undefined;
  const back = from.fromEnvelope(envelope, stamp);
  return back.ok ? from.encode(back.value) : undefined;
}

function notARequest(from: Dialect<unknown>): Issue {
  return {
    pointer: '',
    code: 'not_a_request',
    message: `only requests can be converted to another dialect; this ${from.name} message concerns a connection or is an answer`,
  };
}
