import { accept, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { SearchRequest as validateSearch } from '../generated/knowledge.js';
import { SearchRequest } from './definition.ts';

/** A search as a caller sends it, or every problem. */
export function decodeSearchRequest(json: Json): Outcome<SearchRequest> {
  const issues = issuesOf(validateSearch, SearchRequest, json);
  return issues.length > 0 ? reject(...issues) : accept(json as SearchRequest);
}
