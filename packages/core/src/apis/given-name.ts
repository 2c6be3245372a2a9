import { type Issue, show } from '@dragoman/protocols';

/** A name that an operator chooses, such as that of an API. It is used in paths and in permissions. */
export const GivenName = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]*$',
} as const;

/** The problem with the id of `what`, given in the path. */
export function nameIssues(what: string, id: string): Issue[] {
  if (id.length <= GivenName.maxLength && PATTERN.test(id)) return [];
  const message = `the id of ${what} must be 1 to 100 letters, digits, dots, dashes and underscores, a letter or digit first; got ${show(id)}`;
  return [{ pointer: '', code: 'id', message, suggestion: 'choose another id' }];
}

const PATTERN = new RegExp(GivenName.pattern);
