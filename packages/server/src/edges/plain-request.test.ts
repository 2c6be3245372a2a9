import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PlainReader } from './plain-request.ts';

const OPTIONS = { peer: '127.0.0.1', maxHeaderBytes: 16 * 1024, maxHeaderFields: 64 };

function read(text: string, from = 0) {
  return new PlainReader(OPTIONS).read(Buffer.from(text, 'latin1'), from);
}

function seen(text: string): Seen | undefined {
  const found = read(text);
  if (found === undefined) return undefined;
  const { method, target, headers } = found.request;
  return { method, target, headers: { ...headers }, body: String(found.request.readBody(1_000_000)) };
}

interface Seen {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The requests that Node finds in these bytes; nothing where it refuses them, or waits for more. */
async function seenByNode(text: string): Promise<Seen[] | undefined> {
  const requests: Seen[] = [];
  let isRefused = false;
  let isWaiting = false;
  const server = createServer({ joinDuplicateHeaders: true, requireHostHeader: false }, (message) => {
    const { method, url: target, headers } = message;
    const chunks: Buffer[] = [];
    isWaiting = true;
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      isWaiting = false;
      requests.push({ method, target, headers: { ...headers }, body: Buffer.concat(chunks).toString() });
    });
  });
  server.on('clientError', () => {
    isRefused = true;
  });
  const peer = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  server.emit('connection', peer);
  peer.push(Buffer.from(text, 'latin1'));
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  peer.destroy();
  return isRefused || isWaiting ? undefined : requests;
}

const POST =
  'POST /e2a?x=1 HTTP/1.1\r\nHost: localhost:7420\r\nContent-Type:application/json \r\nContent-Length: 2\r\n\r\n{}';

describe('a plain request', () => {
  test('is read as Node reads it', async () => {
    expect(seen(POST)).toEqual({
      method: 'POST',
      target: '/e2a?x=1',
      headers: { host: 'localhost:7420', 'content-type': 'application/json', 'content-length': '2' },
      body: '{}',
    });
    expect(await seenByNode(POST)).toEqual([seen(POST)]);
  });

  test('needs neither fields nor a body', () => {
    expect(seen('GET / HTTP/1.1\r\n\r\n')).toEqual({ method: 'GET', target: '/', headers: {}, body: '' });
  });

  test('ends where the next begins, also behind the same head', () => {
    const reader = new PlainReader(OPTIONS);
    const bytes = Buffer.from(POST + POST.replace('{}', '[]') + POST.replace('x=1', 'x=2'));
    const found = [];
    for (let from = 0; from < bytes.length; ) {
      const one = reader.read(bytes, from);
      found.push(`${one?.request.target} ${one?.request.readBody(2)}`);
      from = one?.end ?? bytes.length;
    }
    expect(found).toEqual(['/e2a?x=1 {}', '/e2a?x=1 []', '/e2a?x=2 {}']);
  });

  test('has only the fields it was sent, whatever they are called', () => {
    const { headers } = read('GET / HTTP/1.1\r\nConstructor: a\r\n\r\n')?.request ?? {};
    expect(headers?.['constructor']).toBe('a');
    expect(headers?.['toString']).toBeUndefined();
  });

  test('whose body is longer than a route takes says so', () => {
    expect(read(POST)?.request.readBody(1)).toMatchObject({ code: 'too_large' });
  });
});

test.each([
  ['a head that is not whole', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['a body that is not whole', POST.slice(0, -1)],
  ['a coding', POST.replace('Content-Length: 2', 'Transfer-Encoding: chunked')],
  ['a length and a coding', POST.replace('Host', 'Transfer-Encoding: identity\r\nHost')],
  ['two lengths', POST.replace('Host', 'Content-Length: 2\r\nHost')],
  ['a list of lengths', POST.replace('Length: 2', 'Length: 2, 2')],
  ['a signed length', POST.replace('Length: 2', 'Length: +2')],
  ['a length of nothing', POST.replace('Length: 2', 'Length:')],
  ['a length in hexadecimal', POST.replace('Length: 2', 'Length: 0x2')],
  ['a field that objects have a meaning for', POST.replace('Host', '__proto__: a\r\nHost')],
  ['a field that came twice', POST.replace('Host', 'HOST: other\r\nHost')],
  ['an upgrade', POST.replace('Host', 'Upgrade: websocket\r\nHost')],
  ['an expectation', POST.replace('Host', 'Expect: 100-continue\r\nHost')],
  ['the end of the connection', POST.replace('Host', 'Connection: close\r\nHost')],
  ['a connection that hides a field', POST.replace('Host', 'Connection: keep-alive, content-length\r\nHost')],
  ['a folded field', POST.replace('Host', 'X: a\r\n b\r\nHost')],
  ['a space before the colon', POST.replace('Host:', 'Host :')],
  ['a bare LF', POST.replace('\r\nHost', '\nHost')],
  ['a bare CR', POST.replace('Host: ', 'Host: \r')],
  ['a NUL', POST.replace('localhost', 'local\0host')],
  ['a byte beyond ASCII', POST.replace('localhost', 'localh\xf6st')],
  ['an absolute target', POST.replace('/e2a', 'http://localhost/e2a')],
  ['a fragment', POST.replace('x=1', 'x#1')],
  ['another version', POST.replace('1.1', '1.0')],
  ['a method that is no route of ours', POST.replace('POST', 'OPTIONS')],
  ['an empty line first', `\r\n${POST}`],
  [
    'more fields than are taken',
    POST.replace('Host', `${Array.from({ length: 62 }, (_, n) => `X-${n}: 1\r\n`).join('')}Host`),
  ],
  ['a longer head than is taken', POST.replace('Host', `X: ${'a'.repeat(16 * 1024)}\r\nHost`)],
])('%s is not plain', (_what, text) => {
  expect(read(text)).toBeUndefined();
});

test('whatever is plain Node takes too, and for the same', async () => {
  const word = (...words: string[]) => fc.constantFrom(...words);
  const name = word(
    'Host',
    'X-A',
    'x-a',
    'Accept',
    'Content-Length',
    'Connection',
    'Transfer-Encoding',
    '__proto__',
    'constructor',
    'X_a',
    'Co okie',
  );
  const value = fc.oneof(
    word(
      '',
      '0',
      '2',
      '02',
      '2 ',
      '\t2',
      '+2',
      '2,2',
      '1e1',
      'keep-alive',
      'Keep-Alive',
      'close',
      'chunked',
      '"',
      'a\tb',
      ' a  b ',
    ),
    fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 4 }),
  );
  const field = fc.tuple(name, word(':', ': ', ' :', ':\t'), value).map((parts) => parts.join(''));
  const line = fc.tuple(
    word('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'get', ''),
    word(' ', '  '),
    fc.oneof(
      word('/', '/a?b=c', '/%2e', '*', '//x', 'x'),
      fc.string({ maxLength: 4 }).map((rest) => `/${rest}`),
    ),
    word(' HTTP/1.1', ' HTTP/1.0', ''),
  );
  const request = fc
    .tuple(line, fc.array(field, { maxLength: 4 }), word('', '{}', '{}{}', '\r\n'))
    .map(([first, fields, body]) => `${[first.join(''), ...fields].join('\r\n')}\r\n\r\n${body}`);
  let plain = 0;
  let other = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 3, arbitrary: request }, mutated(POST)), async (text) => {
      const end = read(text)?.end;
      if (end === undefined) other += 1;
      else {
        plain += 1;
        expect(await seenByNode(text.slice(0, end))).toEqual([seen(text)]);
      }
    }),
    { numRuns: 3_000 },
  );
  // The sample has much of both.
  expect(plain).toBeGreaterThan(100);
  expect(other).toBeGreaterThan(100);
});

/** A text with a few of its characters changed, put in or left out. */
function mutated(text: string): fc.Arbitrary<string> {
  const place = fc.integer({ min: 0, max: text.length - 1 });
  const character = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  const change = fc.tuple(place, fc.integer({ min: 0, max: 1 }), fc.oneof(fc.constant(''), character));
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((now, [at, less, more]) => now.slice(0, at) + more + now.slice(at + less), text));
}
