import { accept, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { NewKeyRequest as validate } from '../generated/registry.js';
import { NewKeyRequest } from './definition.ts';

/** Decodes the body of `POST /admin/v1/keys`. Whether the agent exists is checked later. */
export function decodeNewKeyRequest(json: Json): Outcome<NewKeyRequest> {
  const issues = issuesOf(validate, NewKeyRequest, json);
  return issues.length > 0 ? reject(...issues) : accept(json as NewKeyRequest);
}
