import { accept, type Outcome, reject, show } from '@dragoman/protocols';
import { decodeHostPort } from '../gate/host-port.ts';

/**
 * Where an agent says it listens, as a URI. `host:port` alone, as older agents write it, is their plain TCP. Nothing is asked
 * at that address: whoever calls it later goes through the gate.
 */
export function decodeEndpoint(text: string): Outcome<string> {
  if (text.length <= LONGEST && URL.canParse(text) && text.includes('://')) {
    const url = new URL(text);
    if (SCHEMES.has(url.protocol) && url.host !== '' && url.username === '' && url.password === '')
      return accept(url.href);
  } else if (text.length <= LONGEST && /:\d+$/.test(text)) {
    const place = decodeHostPort(text, '/endpoint');
    if (place.ok) return accept(`tcp://${place.value.host}:${place.value.port}`);
  }
  return reject({
    pointer: '/endpoint',
    code: 'endpoint',
    message: `endpoint must be a URL without a password in it, or host:port; got ${show(text)}`,
    suggestion: 'write it such as https://agent.example.com/a2a/messages',
  });
}

const SCHEMES: ReadonlySet<string> = new Set(['https:', 'http:', 'wss:', 'ws:', 'tcp:']);
const LONGEST = 2000;
