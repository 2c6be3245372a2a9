import type { JsonObject } from '@dragoman/protocols';
import type { WireErrorCode } from '@dragoman/protocols/a2e-wire';

/** Thrown where a request fails with a code that only this protocol has. */
export class WireRefused extends Error {
  readonly code: WireErrorCode;
  readonly detail: JsonObject;

  constructor(code: WireErrorCode, message: string, detail: JsonObject = {}) {
    super(message);
    this.name = 'WireRefused';
    this.code = code;
    this.detail = detail;
  }
}
