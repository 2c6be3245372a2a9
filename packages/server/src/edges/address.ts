import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * The address of the real caller. `X-Forwarded-For` is used only if the peer is a proxy that the operator named. Read
 * from the right, the first entry that is not such a proxy is the caller; entries further left are unverified claims of
 * the caller.
 */
export function callerAddress(peer: string | undefined, forwardedFor: string | undefined, proxies: BlockList): string {
  let address = plainAddress(peer ?? '');
  if (forwardedFor === undefined || !isListed(proxies, address)) return address;
  for (const entry of forwardedFor.split(',').reverse()) {
    const hop = plainAddress(entry.trim());
    if (isIP(hop) === 0) return address;
    address = hop;
    if (!isListed(proxies, hop)) return address;
  }
  return address;
}

/** The address that stands for one caller: for IPv6 the /64, because each caller has many addresses in it. */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  if (!plain.includes(':')) return plain;
  return `${expandIPv6(plain).slice(0, 4).join(':')}::/64`;
}

/** Whether a text is an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [network = '', prefix, ...more] = text.split('/');
  const version = isIP(network);
  const bits = version === 4 ? 32 : 128;
  return (
    version !== 0 && more.length === 0 && (prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= bits))
  );
}

/** The proxies an operator named: addresses, or networks such as `10.0.0.0/8`. */
export function proxyList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

/** Whether the address at the other end of a connection is on the list. */
export function isInList(list: BlockList, address: string): boolean {
  return isListed(list, plainAddress(address));
}

function isListed(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Removes the zone, and turns an IPv4 address of an IPv6 socket into plain IPv4. */
function plainAddress(address: string): string {
  const zone = address.indexOf('%');
  const bare = zone === -1 ? address : address.slice(0, zone);
  return bare.startsWith(MAPPED) && bare.includes('.') ? bare.slice(MAPPED.length) : bare;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function expandIPv6(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = groups(head);
  if (tail === undefined) return left;
  const right = groups(tail);
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

function groups(part: string): string[] {
  return part === '' ? [] : part.split(':').flatMap((group) => (group.includes('.') ? dotted(group) : [trim(group)]));
}

/** An IPv4 address as two groups: the last 32 bits of an IPv6 address may be written as IPv4. */
function dotted(group: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

function trim(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}

const MAPPED = '::ffff:';
