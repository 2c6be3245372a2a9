import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { REDACTED } from '@dragoman/protocols';
import type { Redactor } from '../gate/redactor.ts';
import { type LongText, stringOf } from '../text/long-text.ts';

/**
 * Replaces secrets in the strings, names and numbers of a JSON text; the result is still JSON. A long text is read in
 * pieces, so that other work gets its turn in between.
 */
export async function redactedJson<Text extends string | LongText>(
  json: Text,
  redactor: Redactor,
): Promise<Text | string> {
  if (typeof json === 'string' && json.length <= PIECE) {
    return redactor.text(json) === json ? json : replaced(json, redactor);
  }
  const parts = typeof json === 'string' ? [Buffer.from(json)] : json.parts;
  return (await isFoundIn(parts, redactor)) ? replaced(await stringOf(json), redactor) : json;
}

async function isFoundIn(parts: readonly Uint8Array[], redactor: Redactor): Promise<boolean> {
  const [before, after] = [createHash('sha256'), createHash('sha256')];
  const pieces = async function* () {
    for (const part of parts) {
      for (let at = 0; at < part.length; at += PIECE) {
        const piece = part.subarray(at, at + PIECE);
        before.update(piece);
        yield piece;
        await nextTurn();
      }
    }
  };
  for await (const piece of redactor.body(pieces())) after.update(piece);
  return before.digest('hex') !== after.digest('hex');
}

/** String by string: text that spans two strings is not a secret. */
async function replaced(json: string, redactor: Redactor): Promise<string> {
  let clean = '';
  let turn = 0;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const start = quote === -1 ? json.length : quote;
    clean += json.slice(at, start).replaceAll(NUMBER, (number) => {
      return redactor.text(number) === number ? number : `"${REDACTED}"`;
    });
    if (quote === -1) break;
    const end = endOfString(json, quote);
    const value: string = JSON.parse(json.slice(quote, end));
    const shown = redactor.text(value);
    clean += shown === value ? json.slice(quote, end) : JSON.stringify(shown);
    at = end;
    if (at - turn < PIECE) continue;
    turn = at;
    await nextTurn();
  }
  return clean;
}

/** The place behind the quote that closes the string. */
function endOfString(json: string, open: number): number {
  for (let at = open + 1; ; at += 1) {
    if (json[at] === '"') return at + 1;
    if (json[at] === '\\') at += 1;
  }
}

const NUMBER = /-?\d[\d.eE+-]*/g;
const PIECE = 65_536;
