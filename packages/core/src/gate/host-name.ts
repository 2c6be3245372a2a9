/** Why a name is not looked up: it can only mean something on this machine or in its network. `undefined` when it may be. */
export function judgeHostName(name: string): string | undefined {
  if (name.endsWith('.')) return 'its host ends with a dot';
  if (!name.includes('.')) return 'its host is a single label, which only a local network knows';
  if (METADATA_NAMES.has(name)) return 'its host is a metadata service';
  const suffix = LOCAL_SUFFIXES.find((local) => name.endsWith(local));
  return suffix && `names that end with ${suffix} belong to a local network`;
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
