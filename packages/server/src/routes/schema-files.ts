import { failure } from '@dragoman/protocols';
import { publishedSchema } from '../http/published-schema.ts';
import type { Route } from '../http/route.ts';

/** The published JSON Schemas of every dialect, with which senders can check their messages. */
export function schemaRoute(): Route {
  const texts = new Map<string, string>();
  return {
    method: 'GET',
    path: '/schemas/:dialect/:file',
    access: 'public',
    counts: false,
    summary: 'A published JSON Schema, such as /schemas/a2a-messages/base-message.json.',
    answers: { 'application/schema+json': {} },
    handle: ({ params: { dialect = '', file = '' } }) => {
      // Only names of this form, because the name becomes part of a path.
      if (!/^[a-z0-9-]{1,40}$/.test(dialect) || !/^[a-z0-9-]{1,80}\.json$/.test(file)) return NO_SCHEMA;
      const name = `${dialect}/${file}`;
      const text = texts.get(name) ?? publishedSchema(name);
      if (text === undefined) return NO_SCHEMA;
      texts.set(name, text);
      return { status: 200, headers: { 'Content-Type': 'application/schema+json' }, text };
    },
  };
}

const NO_SCHEMA = failure('not_found', {}, 'Schema not found.');
