import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface CanaryScan {
  /** What must be nowhere. */
  readonly secret: string;
  /** What a server keeps, by place; the key of the vault is left out. */
  readonly kept?: ReadonlyMap<string, Uint8Array>;
  /** What else was seen: logs, metrics, answers, by name. */
  readonly seen?: Readonly<Record<string, string | Uint8Array>>;
  /** Processes whose arguments and environment are looked at too. */
  readonly pids?: readonly number[];
}

/** Every place where the secret stands, in whatever coding; none when all is well. */
export function canaryScan({ secret, kept = new Map(), seen = {}, pids = [] }: CanaryScan): string[] {
  const places = new Map<string, Uint8Array>(
    Object.entries(seen).map(([name, value]) => [name, typeof value === 'string' ? Buffer.from(value) : value]),
  );
  for (const [place, bytes] of kept) {
    if (!basename(place).startsWith('vault.key')) places.set(place, bytes);
  }
  for (const pid of pids) {
    for (const name of ['cmdline', 'environ']) places.set(`${pid} ${name}`, readFileSync(`/proc/${pid}/${name}`));
  }
  return [...places].flatMap(([place, bytes]) => {
    const text = Buffer.from(bytes).toString('latin1');
    return Object.entries(codingsOf(secret)).flatMap(([coding, form]) =>
      text.includes(form) ? `${place}: ${coding}` : [],
    );
  });
}

/** The secret as a service may write it. Of base64 only what the secret alone decides. */
export function codingsOf(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset, 'x'), bytes]).toString('base64');
    const core = text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    const safe = core.replaceAll('+', '-').replaceAll('/', '_');
    return [
      [`base64 at ${offset}`, core],
      [`base64url at ${offset}`, safe],
    ];
  });
  const escaped = Array.from(secret, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return {
    raw: bytes.toString('latin1'),
    percent: encodeURIComponent(secret),
    'percent, lower case': encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
    'percent, whole': bytes.toString('hex').replace(/../g, '%$&'),
    hex: bytes.toString('hex'),
    HEX: bytes.toString('hex').toUpperCase(),
    JSON: JSON.stringify(secret).slice(1, -1),
    'JSON, whole': escaped.join(''),
    ...Object.fromEntries(shifted),
  };
}
