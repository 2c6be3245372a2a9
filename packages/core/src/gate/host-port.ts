import { accept, type Outcome, reject, show } from '@dragoman/protocols';

/** A host as URLs spell it, and a port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Reads `host` (port 443) or `host:port`, as operators write it; an IPv6 address with a port needs brackets. */
export function decodeHostPort(text: string, pointer: string): Outcome<HostPort> {
  const [, host = '', digits] = HOST_PORT.exec(text) ?? [];
  const port = digits === undefined ? 443 : Number(digits);
  const spelled = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  // The parser settles case, international names and the many spellings of an address, as it does for the URLs.
  const url = `http://${spelled}/`;
  const isBare = host !== '' && !/[/?#@\\\s*]/.test(host);
  if (isBare && port >= 1 && port <= 65_535 && URL.canParse(url)) {
    return accept({ host: new URL(url).hostname.replace(/\.$/, ''), port });
  }
  return reject({
    pointer,
    code: 'host',
    message: `${pointer} must be host or host:port; got ${show(text)}`,
    suggestion: 'write it without a scheme and a path, such as api.example.com or 127.0.0.1:9000',
  });
}

/** The host and port a URL leads to. */
export function hostPortOf({ hostname: host, port, protocol }: URL): HostPort {
  if (port !== '') return { host, port: Number(port) };
  return { host, port: protocol === 'https:' || protocol === 'wss:' ? 443 : 80 };
}

/** The shortest text that `decodeHostPort` reads as this host and port. */
export function nameOfHostPort({ host, port }: HostPort): string {
  return port === 443 ? host : `${host}:${port}`;
}

const HOST_PORT = /^(\[[^\]]*\]|[^:]*|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)(?::(\d{1,5}))?$/;
