/** Every way we know to write a host that leads to an IPv4 address, for URL parsers that are more generous than they should be. */
export function spellingsOfIPv4(address: string): string[] {
  const parts = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const number = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const bases = [
    (part: number) => String(part),
    (part: number) => `0x${part.toString(16)}`,
    (part: number) => `0X${part.toString(16).toUpperCase()}`,
    (part: number) => `0x000${part.toString(16)}`,
    (part: number) => `0${part.toString(8)}`,
    (part: number) => `000${part.toString(8)}`,
  ];
  // The last part takes all the bytes that are left: 127.1 is 127.0.0.1.
  const shapes = [[a, b, c, d], [a, b, (c << 8) | d], [a, (b << 16) | (c << 8) | d], [number]];
  const plain = shapes.flatMap((shape) => bases.map((write) => shape.map(write).join('.')));
  const mixed = [
    `${bases[1]?.(a)}.${bases[4]?.(b)}.${c}.${bases[2]?.(d)}`,
    `${bases[4]?.(a)}.${bases[1]?.((b << 16) | (c << 8) | d)}`,
  ];
  const disguised = [address, ...mixed].flatMap((text) => [
    `${text}.`,
    text.replaceAll('.', '。'),
    text.replaceAll('.', '．'),
    text.replaceAll('.', '｡'),
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)),
    text.replace(/[0-9]/g, (digit) => `%3${digit}`),
    text.replaceAll('.', '%2e'),
    `${text.slice(0, 1)}\t${text.slice(1)}`,
    `${text.slice(0, 1)}\n${text.slice(1)}`,
    `${text.slice(0, 1)}\u00ad${text.slice(1)}`,
  ]);
  const hex = (part: number) => part.toString(16).padStart(2, '0');
  const [high, low] = [`${hex(a)}${hex(b)}`, `${hex(c)}${hex(d)}`];
  const wrapped = [
    ['::ffff:', ''],
    ['::', ''],
    ['64:ff9b::', ''],
    ['64:ff9b:1::', ''],
    ['::ffff:0:', ''],
    ['0:0:0:0:0:FFFF:', ''],
    ['0000:0000:0000:0000:0000:ffff:', ''],
    ['2002:', '::1'],
    ['2002:', '::'],
  ].flatMap(([before, after]) => [
    `[${before}${high}:${low}${after}]`,
    ...(after === '' ? [`[${before}${address}]`] : []),
  ]);
  return [...new Set([...plain, ...mixed, ...disguised, ...wrapped])];
}

export function spellingsOfIPv6(address: string): string[] {
  const url = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  return [...new Set([address, url, address.toUpperCase(), full(url), full(url).toUpperCase()])].flatMap((text) => [
    `[${text}]`,
    `[${text}%25lo]`,
  ]);
}

function full(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const missing = address.includes('::') ? 8 - groups(head).length - groups(tail).length : 0;
  const all = [...groups(head), ...new Array<string>(missing).fill('0'), ...groups(tail)];
  return all.map((group) => group.padStart(4, '0')).join(':');
}

/** Names that mean this machine, its network or its cloud. */
export const LOCAL_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'ⓛocalhost',
  'ｌocalhost',
  'localhost.localdomain',
  'metadata',
  'metadata.google.internal',
  'METADATA.google.internal.',
  'metadata.goog',
  'instance-data',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'router.lan',
  'nas.local',
  'db.internal',
  'intranet',
  'printer.home.arpa',
  '1.0.0.127.in-addr.arpa',
];
