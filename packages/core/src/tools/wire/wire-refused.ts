import { type Failure, failure, isObject, type JsonObject } from '@dragoman/protocols';
import { isWireErrorCode, WIRE_ERRORS, type WireErrorCode } from '@dragoman/protocols/a2e-wire';

/** A code of the protocol, or one of a plugin's own: the set is open. */
export type RefusalCode = WireErrorCode | (string & {});

/** Thrown where a request fails with a code that only this protocol, or only this plugin, has. */
export class WireRefused extends Error {
  readonly code: RefusalCode;
  readonly detail: JsonObject;
  /** The failure for all other protocols. */
  readonly failure: Failure;

  constructor(code: RefusalCode, message: string, detail: JsonObject = {}) {
    super(message);
    this.name = 'WireRefused';
    this.code = code;
    this.detail = detail;
    const { retry_after } = detail;
    const details = { tool_code: code, ...(typeof retry_after === 'number' && { retry_after }) };
    this.failure = {
      ...failure('tool_failed', details, message),
      retryable: isWireErrorCode(code) && WIRE_ERRORS[code].retryable,
    };
  }
}

/** The refusal in an error, from any copy of this module. */
export function wireRefusalOf(error: unknown): WireRefused | undefined {
  if (error instanceof WireRefused) return error;
  if (!(error instanceof Error) || error.name !== 'WireRefused') return undefined;
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  if (typeof code !== 'string' || code === '') return undefined;
  return new WireRefused(code, error.message, isObject(detail) ? detail : {});
}
