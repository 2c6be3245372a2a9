/** A host as written in a URL. A server that listens on every address is reached at the loopback address. */
export function reachable(host: string): string {
  const address = EVERYWHERE.get(host) ?? host;
  return address.includes(':') ? `[${address}]` : address;
}

const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
