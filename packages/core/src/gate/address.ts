import { isIPv4, isIPv6 } from 'node:net';

/** Why an address is not public. */
export interface AddressFault {
  readonly why: string;
  /** Whether an allowed name may resolve to it. Other addresses must be allowed by number. */
  readonly byName: boolean;
}

/** Judges an address as a resolver or a URL spells it; `undefined` for a public one. An invalid address is never public. */
export function judgeAddress(text: string): AddressFault | undefined {
  const bytes = parseAddress(text);
  if (bytes === undefined) return NO_ADDRESS;
  return bytes.length === 4 ? judgeIPv4(bytes) : judgeIPv6(bytes);
}

/** The 4 or 16 bytes of an address; `undefined` for anything else. An address with a zone is local, so it is not accepted. */
function parseAddress(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  return isIPv6(text) && !text.includes('%') ? parseIPv6(text) : undefined;
}

/** Whether two spellings mean one address. A socket reports an IPv4 peer as IPv4 or mapped into IPv6. */
export function isSameAddress(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => {
    const bytes = parseAddress(text);
    return bytes !== undefined && startsWith(bytes, MAPPED) ? bytes.subarray(12) : bytes;
  });
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}

function judgeIPv4(bytes: Uint8Array): AddressFault | undefined {
  return BLOCKS_V4.find((block) => startsWith(bytes, block))?.fault;
}

function judgeIPv6(bytes: Uint8Array): AddressFault | undefined {
  const fault = BLOCKS_V6.find((block) => startsWith(bytes, block))?.fault;
  if (fault !== undefined) return fault;
  const wrapping = WRAPPINGS.find((block) => startsWith(bytes, block));
  if (wrapping !== undefined) {
    const inner = judgeIPv4(bytes.subarray(wrapping.at, wrapping.at + 4));
    return inner && { why: `${wrapping.fault.why} of ${inner.why}`, byName: false };
  }
  return startsWith(bytes, GLOBAL) ? undefined : NOT_GLOBAL;
}

function parseIPv6(text: string): Uint8Array {
  const [head = '', tail] = withoutDots(text).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

/** `::ffff:10.0.0.1` as `::ffff:a00:1`. */
function withoutDots(text: string): string {
  const [dotted] = /\d+\.\d+\.\d+\.\d+$/.exec(text) ?? [];
  if (dotted === undefined) return text;
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${text.slice(0, -dotted.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

interface Block {
  readonly prefix: Uint8Array;
  readonly bits: number;
  readonly fault: AddressFault;
}

function startsWith(bytes: Uint8Array, { prefix, bits }: Block): boolean {
  if (bytes.length !== prefix.length) return false;
  for (let index = 0, left = bits; left > 0; index += 1, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((bytes[index] ?? 0) & mask) !== ((prefix[index] ?? 0) & mask)) return false;
  }
  return true;
}

function block([range, why, byName = false]: readonly [range: string, why: string, byName?: boolean]): Block {
  const [address = '', bits] = range.split('/');
  const prefix = parseAddress(address);
  if (prefix === undefined) throw new Error(`${range} is no range of addresses`);
  return { prefix, bits: Number(bits), fault: { why, byName } };
}

/** Ranges outside the public network, by the IANA special-purpose registries. The first match counts. */
const BLOCKS_V4: readonly Block[] = (
  [
    ['169.254.0.0/16', 'a link-local address'],
    ['100.100.100.200/32', 'a metadata address'],
    // Looks public, but every virtual machine of Azure reaches its own host there.
    ['168.63.129.16/32', 'a metadata address'],
    ['0.0.0.0/8', 'an address of this host'],
    ['10.0.0.0/8', 'a private address', true],
    ['100.64.0.0/10', 'a shared address', true],
    ['127.0.0.0/8', 'a loopback address', true],
    ['172.16.0.0/12', 'a private address', true],
    ['192.0.0.0/24', 'an address of protocol assignments'],
    ['192.0.2.0/24', 'an address for documentation'],
    ['192.88.99.0/24', 'a relay address'],
    ['192.168.0.0/16', 'a private address', true],
    ['198.18.0.0/15', 'an address for benchmarks'],
    ['198.51.100.0/24', 'an address for documentation'],
    ['203.0.113.0/24', 'an address for documentation'],
    ['224.0.0.0/4', 'a multicast address'],
    ['240.0.0.0/4', 'a reserved address'],
  ] as const
).map(block);

const BLOCKS_V6: readonly Block[] = (
  [
    ['::/128', 'an address of this host'],
    ['::1/128', 'a loopback address', true],
    ['fd00:ec2::254/128', 'a metadata address'],
    ['fd20:ce::254/128', 'a metadata address'],
    ['fc00::/7', 'a private address', true],
    ['fe80::/10', 'a link-local address'],
    ['fec0::/10', 'a site-local address'],
    ['ff00::/8', 'a multicast address'],
    ['100::/64', 'a discard address'],
    ['64:ff9b:1::/48', 'a local translation address'],
    // Teredo, benchmarks, ORCHID and other protocol assignments.
    ['2001::/23', 'an address of protocol assignments'],
    ['2001:db8::/32', 'an address for documentation'],
    ['3fff::/20', 'an address for documentation'],
    ['5f00::/16', 'a segment routing address'],
  ] as const
).map(block);

/** Ranges whose addresses stand for an IPv4 address inside them, and where in them it is. */
const WRAPPINGS = [
  { ...block(['::ffff:0:0/96', 'the mapped form']), at: 12 },
  { ...block(['::/96', 'the compatible form']), at: 12 },
  { ...block(['64:ff9b::/96', 'the translated form']), at: 12 },
  { ...block(['2002::/16', 'the 6to4 form']), at: 2 },
];

const MAPPED = block(['::ffff:0:0/96', 'the mapped form']);
const GLOBAL = block(['2000::/3', 'a global address']);
const NOT_GLOBAL: AddressFault = { why: 'an address outside of the public range', byName: false };
const NO_ADDRESS: AddressFault = { why: 'no address', byName: false };
