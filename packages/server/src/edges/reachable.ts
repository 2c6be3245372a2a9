/** A host as it stands in a URL. Who listens on every address is reached by this machine at its own. */
export function reachable(host: string): string {
  const address = EVERYWHERE.get(host) ?? host;
  return address.includes(':') ? `[${address}]` : address;
}

const EVERYWHERE: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
