import { accept, type Issue, type Outcome, reject, show } from '@dragoman/protocols';

/**
 * The normal form of an API's base URL: http or https, an origin and a path, without a slash at the end. The gate
 * decides whether its host may be called.
 */
export function decodeBaseUrl(text: string): Outcome<string> {
  // The URL parser would change these characters silently.
  if (/[\s\\]/.test(text) || hasControl(text))
    return refused(text, 'without blanks, control characters or backslashes');
  // The server URL of an OpenAPI document may have a variable without a default.
  if (/[{}]/.test(text)) return refused(text, 'without { and }: templates are not filled in');
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return refused(text, 'an absolute https URL');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return refused(
      text.replace(/\/\/[^/]*@/, '//…@'),
      'without a user name or password: secrets belong into the vault',
    );
  }
  if (text.includes('?') || text.includes('#')) return refused(text, 'without a query or fragment');
  if (url.hostname.endsWith('.')) return refused(text, 'without a dot at the end of the host');
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(text.slice(url.protocol.length + 2))) {
    return refused(text, 'without . and .. as segments');
  }
  return accept(url.href.replace(/\/+$/, ''));
}

function refused(text: string, expected: string): Outcome<never> {
  const issue: Issue = {
    pointer: '/base_url',
    code: 'base_url',
    message: `base_url must be ${expected}; got ${show(text)}`,
    suggestion: 'write it like https://api.example.com/v1',
  };
  return reject(issue);
}

function hasControl(text: string): boolean {
  for (const character of text) if (character < ' ' || character === '\x7f') return true;
  return false;
}
