import { FAILURES, type FailureRow } from '../failure.ts';
import type { Json } from '../json.ts';
import type { StandardErrorCode } from './errors.ts';
import { ErrorCode } from './fields.ts';

/** The A2A code for an E2A error code: the equivalent, otherwise the nearest valid spelling. */
export function errorCodeFrom(code: Json | undefined): string {
  const usual = USUAL.get(code);
  if (usual !== undefined) return usual;
  const row = Object.values<FailureRow>(FAILURES).find(({ e2a, jsonrpc }) => e2a === code || jsonrpc === code);
  if (row !== undefined) return row.a2a;
  return typeof code === 'string' || typeof code === 'number' ? fittingErrorCode(String(code)) : 'INTERNAL_ERROR';
}

/** Upper case with underscores: `invalid-currency` becomes `INVALID_CURRENCY`. */
export function fittingErrorCode(code: string): string {
  if (PATTERN.test(code)) return code;
  const shouted = code.slice(0, LONGEST).toUpperCase();
  const words = shouted.split(/[^A-Z0-9]+/).filter((word) => word !== '');
  const joined = words.join('_');
  return PATTERN.test(joined) ? joined : ['ERROR', ...words].join('_');
}

/** The A2A code of the usual failure, for codes that stand for several failures. */
const USUAL: ReadonlyMap<Json | undefined, StandardErrorCode> = new Map<Json | undefined, StandardErrorCode>([
  ['E2A.UNKNOWN_METHOD', 'METHOD_NOT_ALLOWED'],
  [-32600, 'INVALID_MESSAGE'],
  [-32601, 'METHOD_NOT_ALLOWED'],
  [-32603, 'INTERNAL_ERROR'],
]);

const PATTERN = new RegExp(ErrorCode.pattern);
const LONGEST = 128;
