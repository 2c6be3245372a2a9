import { type Json, show } from '@dragoman/protocols';
import { OPERATIONS, type ValidateDataConfig } from '@dragoman/protocols/a2e-workflow';
import { momentOf } from '../date/input.ts';
import { UTC } from '../date/zone.ts';
import type { Compiling, Operation } from '../operation.ts';
import { compilePattern } from '../pattern.ts';

/** Validates a value and returns the result as data: an invalid value is not an error. */
export const validateData: Operation<ValidateDataConfig> = {
  description: OPERATIONS.ValidateData,
  isHeavy: ({ validationType }) => validationType === 'custom',
  compile({ inputPath, validationType, pattern = '' }, compiling) {
    const input = compiling.path(inputPath);
    const judge = judgeOf(validationType, pattern, compiling);
    return (step) => {
      const value = step.read(input);
      if (typeof value === 'string') step.account.patternText(value.length);
      if (judge.accepts(value)) return { valid: true, value };
      return { valid: false, value, error: `must be ${judge.words}; got ${show(value)}` };
    };
  },
};

interface Judge {
  readonly words: string;
  readonly accepts: (value: Json) => boolean;
}

function judgeOf(type: string, pattern: string, compiling: Compiling): Judge {
  if (type === 'custom') {
    const compiled = compilePattern(pattern, '/pattern', compiling);
    // The whole value has to match, as with the other types.
    return {
      words: `a text that matches ${show(pattern)}`,
      accepts: onText((text) => compiled?.matches(text) ?? false),
    };
  }
  const judge = Object.hasOwn(JUDGES, type) ? JUDGES[type] : undefined;
  if (judge === undefined) compiling.problem('/validationType', `validationType ${show(type)} is unknown`);
  return judge ?? { words: type, accepts: () => false };
}

function onText(accepts: (text: string) => boolean): (value: Json) => boolean {
  return (value) => typeof value === 'string' && accepts(value);
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text);
}

/** Agents often pass numbers as text, so both are accepted. */
function isNumber(value: Json, form: RegExp): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.length <= 64 && form.test(value));
}

// These patterns are applied to bounded lengths and do not backtrack, so that they take linear time.
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$/;
const PHONE = /^\+?[\d\s().-]{7,24}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const WHOLE = /^[+-]?\d+$/;

const JUDGES: Readonly<Record<string, Judge>> = {
  email: { words: 'an e-mail address', accepts: onText((text) => text.length <= 254 && EMAIL.test(text)) },
  url: { words: 'an http or https URL', accepts: onText((text) => text.length <= 4096 && isUrl(text)) },
  number: { words: 'a number', accepts: (value) => isNumber(value, DECIMAL) },
  integer: {
    words: 'a whole number',
    accepts: (value) => (typeof value === 'number' ? Number.isInteger(value) : isNumber(value, WHOLE)),
  },
  phone: {
    words: 'a phone number of 7 to 15 digits',
    accepts: onText((text) => PHONE.test(text) && inRange(text.replaceAll(/\D/g, '').length, 7, 15)),
  },
  date: {
    words: 'a date such as 2026-03-28 or 2026-03-28T12:00:00Z',
    accepts: onText((text) => text.length <= 64 && momentOf(text, UTC) !== undefined),
  },
};

function inRange(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
