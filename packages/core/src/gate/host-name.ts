/** Why a name is not resolved. */
export interface NameFault {
  readonly why: string;
  /** What to do instead; absent where the operator can allow the host by this name. */
  readonly help?: string;
}

/** Why a name is not looked up, such as one that only a local network knows; `undefined` if it may be looked up. */
export function judgeHostName(name: string): NameFault | undefined {
  if (name.endsWith('.')) return { why: 'its host ends with a dot', help: 'write its host without the dot at the end' };
  if (!name.includes('.')) return { why: 'its host is a single label, which only a local network knows' };
  if (METADATA_NAMES.has(name)) return { why: 'its host is a metadata service', help: 'call a public host' };
  const suffix = LOCAL_SUFFIXES.find((local) => name.endsWith(local));
  return suffix === undefined ? undefined : { why: `names that end with ${suffix} belong to a local network` };
}

const LOCAL_SUFFIXES = [
  '.localhost',
  '.localdomain',
  '.local',
  '.internal',
  '.intranet',
  '.private',
  '.corp',
  '.home',
  '.home.arpa',
  '.lan',
  '.svc',
  '.in-addr.arpa',
  '.ip6.arpa',
];

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata.azure.com',
  'metadata.goog',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
]);
