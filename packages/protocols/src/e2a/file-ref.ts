import * as validators from '../generated/e2a.js';
import type { Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import { E2AFileRef } from './envelope.ts';

/** An attachment with every field there. */
export type WholeFileRef = Required<E2AFileRef>;

/** An attachment from `params.files` or `params.attachments`, its defaults filled in (E2A §5). Other members stay. */
export function decodeFileRef(json: Json): Outcome<WholeFileRef> {
  const issues = issuesOf(validators.FileRef, E2AFileRef, json);
  return issues.length > 0 ? reject(...issues) : accept(newFileRef(json as E2AFileRef));
}

export function newFileRef(given: E2AFileRef): WholeFileRef {
  return { name: null, mime_type: null, size: null, _meta: {}, ...given };
}
