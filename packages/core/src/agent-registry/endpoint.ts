import { accept, type Outcome, reject, show } from '@dragoman/protocols';

/** The endpoint of an agent whose requests are sent over the connection that it, or its owner, has opened to this server. */
export const OVER_CONNECTION = 'connection:';

/** The endpoint that an agent declares. Requests are relayed over http and https, through the gate, or over its own connection. */
export function decodeEndpoint(text: string): Outcome<string> {
  if (text === OVER_CONNECTION) return accept(text);
  if (text.length <= LONGEST && URL.canParse(text)) {
    const url = new URL(text);
    if (SCHEMES.has(url.protocol) && url.host !== '' && url.username === '' && url.password === '')
      return accept(url.href);
  }
  return reject({
    pointer: '/endpoint',
    code: 'endpoint',
    message: `endpoint must be an http or https URL without a user name or password, or "connection:" to be called over a connection that the agent opens; got ${show(text)}`,
    suggestion: 'use a URL such as https://agent.example.com/a2a/messages',
  });
}

const SCHEMES: ReadonlySet<string> = new Set(['https:', 'http:']);
const LONGEST = 2000;
