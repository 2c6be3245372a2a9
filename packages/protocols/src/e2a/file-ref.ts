import * as validators from '../generated/e2a.js';
import type { Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import { E2AFileRef } from './envelope.ts';

/** An attachment with every field present. */
export type WholeFileRef = Required<E2AFileRef>;

/**
 * Reads an attachment of `params.files` or `params.attachments` and fills in its defaults (E2A §5). Unknown members are
 * kept.
 */
export function decodeFileRef(json: Json): Outcome<WholeFileRef> {
  const issues = issuesOf(validators.FileRef, E2AFileRef, json);
  return issues.length > 0 ? reject(...issues) : accept(newFileRef(json as E2AFileRef));
}

export function newFileRef(given: E2AFileRef): WholeFileRef {
  return { name: null, mime_type: null, size: null, _meta: {}, ...given };
}
