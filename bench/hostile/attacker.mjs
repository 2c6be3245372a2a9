// Twenty hostile senders of one kind. Reports when it has started, and continues until it is disconnected.
import { randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { WebSocket } from 'ws';

const [kind, port, key] = process.argv.slice(2);
const SENDERS = 20;
const BYTES = 9 * 1024 * 1024;

const TEXTS = {
  nested: () =>
    `[${Array(BYTES / 3)
      .fill('[]')
      .join(',')}]`,
  deep: () => '['.repeat(BYTES / 2) + ']'.repeat(BYTES / 2),
  wide: () => `{${Array.from({ length: BYTES / 13 }, (_, at) => `"k${at}":0`).join(',')}}`,
  small: () => '1',
};

/** A message that is as it should be, but for its signature and what it holds. */
function message(text) {
  const timestamp = new Date().toISOString();
  const whole = {
    message_id: randomUUID(),
    message_type: 'request',
    sender_id: 'honest-agent',
    recipient_id: 'bench',
    timestamp,
    payload: { method: 'say', parameters: { content: 'PLACE' } },
    correlation_id: null,
    auth: {
      agent_id: 'honest-agent',
      timestamp,
      nonce: randomBytes(16).toString('hex'),
      signature: randomBytes(64).toString('base64'),
    },
  };
  return JSON.stringify(whole).replace('"PLACE"', text);
}

function post(path, body, more = '') {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${more}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(head + body);
}

/** Sends the same request over one connection after the other. */
function posting(bytes) {
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
  socket.on('data', () => {});
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(() => posting(bytes), 5));
}

/** Sends all of a request but its last byte, and waits to be sent away. */
function withholding(bytes) {
  posting(bytes.subarray(0, -1));
}

/** Sends small messages as fast as they are taken. */
function flooding(text) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/a2a/messages/ws`);
  const more = () => {
    if (socket.readyState !== WebSocket.OPEN) return;
    for (let count = 0; count < 50 && socket.bufferedAmount < 1_000_000; count += 1) socket.send(text);
    setImmediate(more);
  };
  socket.on('open', more);
  socket.on('message', () => {});
  socket.on('error', () => {});
  socket.on('close', () => setTimeout(() => flooding(text), 5));
}

const bearer = `Authorization: Bearer ${key}\r\n`;
const ATTACKS = {
  'nested arrays': () => posting(post('/a2a/messages', message(TEXTS.nested()))),
  'deep nesting': () => posting(post('/a2a/messages', message(TEXTS.deep()))),
  'wide objects': () => posting(post('/a2a/messages', message(TEXTS.wide()))),
  'junk signatures': () => posting(post('/a2a/messages', message(TEXTS.small()))),
  'last byte withheld': () => withholding(post('/a2a/messages', message(TEXTS.nested()))),
  'WebSocket flood': () => flooding(message(TEXTS.small())),
  'nested arrays, with a key': () =>
    posting(post('/e2a', `{"method":"chat.send","params":{"x":${TEXTS.nested().slice(0, 999_998)}]}}`, bearer)),
};

// Real senders have processors of their own: here they take what the server and the client leave.
setPriority(constants.priority.PRIORITY_LOW);
for (let sender = 0; sender < SENDERS; sender += 1) ATTACKS[kind]();
process.send({ started: true });
process.on('disconnect', () => process.exit(0));
