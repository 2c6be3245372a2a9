import { randomFillSync, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Ids, Log, LogFields } from '@dragoman/core';
import { REDACTED } from '@dragoman/protocols';
import pino from 'pino';

export const systemClock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  // A timer does not keep the process alive: work that must finish is awaited explicitly.
  wait: async (milliseconds, signal) => {
    const options = { ref: false, ...(signal !== undefined && { signal }) };
    for (let left = milliseconds; ; left -= LONGEST_TIMER_MS) {
      await delay(Math.min(left, LONGEST_TIMER_MS), undefined, options);
      if (left <= LONGEST_TIMER_MS) return;
    }
  },
  after: (milliseconds, callback) => {
    let timer: NodeJS.Timeout;
    const start = (left: number) => {
      const isLast = left <= LONGEST_TIMER_MS;
      timer = setTimeout(isLast ? callback : () => start(left - LONGEST_TIMER_MS), Math.min(left, LONGEST_TIMER_MS));
      timer.unref();
    };
    start(milliseconds);
    return () => clearTimeout(timer);
  },
};

/** The longest delay of Node's timers: a longer one would fire after a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemIds: Ids = {
  hex: () => {
    if (used === digits.length) {
      digits = nextDigits();
      used = 0;
    }
    used += ID_DIGITS;
    return digits.slice(used - ID_DIGITS, used);
  },
  sortable: () => Date.now().toString(16).padStart(TIME_DIGITS, '0') + systemIds.hex().slice(TIME_DIGITS),
  uuid: () => randomUUID(),
};

/**
 * Hex digits for the next ids. Randomness is fetched in blocks for 256 ids, and no byte is used twice. The text is made
 * for a few ids at a time, because an id that is kept alive keeps the whole text alive.
 */
function nextDigits(): string {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += PIECE_BYTES;
  return pool.toString('hex', taken - PIECE_BYTES, taken);
}

const ID_DIGITS = 32;
const TIME_DIGITS = 12;
const PIECE_BYTES = 16 * 16;
const pool = Buffer.alloc(16 * PIECE_BYTES);
let taken = pool.length;
let digits = '';
let used = 0;

/** JSON lines on stderr. Fields that could contain a secret are replaced before they are written. */
export function jsonLog(level: string): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_FIELDS, censor: REDACTED },
    },
    pino.destination(2),
  );
  const at = (name: 'debug' | 'info' | 'warn' | 'error') => (fields: LogFields, message: string) =>
    logger[name](fields, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const SECRET_FIELDS = [
  'authorization',
  'api_key',
  'key',
  'secret',
  'token',
  'bearer_token',
  '*.authorization',
  '*.bearer_token',
  '*.api_key',
  '*.secret',
  '*.token',
];
