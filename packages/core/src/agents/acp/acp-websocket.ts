import type { WebSocket } from 'ws';
import { connectFault } from '../../gate/connect-fault.ts';
import { credentialsIn, filledHeaders } from '../../gate/injection.ts';
import { everyRedactor, ownRedactor } from '../../gate/redactor.ts';
import { failureOf } from '../../refusals/refused.ts';
import { MAX_FRAME_BYTES } from '../agent-frame.ts';
import { socketFault } from '../socket-fault.ts';
import type { AcpRemoteOptions } from './acp-remote.ts';
import { AcpLineLost, type AcpTransport, type OpenAcpTransport } from './acp-transport.ts';
import { MessageInbox } from './message-inbox.ts';

/** ACP over a WebSocket: one message per text frame. */
export function acpWebSocket(options: AcpRemoteOptions): OpenAcpTransport {
  return async () => {
    const { url, gate, id } = options;
    const { WebSocket: Socket } = await import('ws');
    const gone = new AbortController();
    try {
      const headers = await headersFor(options);
      const connected = await gate.dial({ url: url.href, allowList: 'allow', caller: id, signal: gone.signal });
      const socket = new Socket(url, {
        headers,
        createConnection: () => connected,
        followRedirects: false,
        perMessageDeflate: false,
        maxPayload: MAX_FRAME_BYTES,
        handshakeTimeout: DIAL_MS,
      });
      const transport = transportOf(socket, options);
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      void beat(socket, options, transport.lost);
      return transport;
    } catch (error) {
      gone.abort();
      const why = failureOf(error)?.message.replace(/\.$/, '') ?? connectFault(error);
      throw new AcpLineLost(`The agent cannot be reached: ${why}.`);
    }
  };
}

async function headersFor({ headers, gate, url, id }: AcpRemoteOptions): Promise<Record<string, string>> {
  const uses = credentialsIn({ headers });
  const use = { url: url.href, allowList: 'allow' as const, caller: id, purpose: `agents.${id}.headers` };
  const fill = uses.length === 0 ? noSecret : await gate.release(uses, use);
  return Object.fromEntries(filledHeaders({ headers }, fill));
}

function noSecret(): never {
  throw new Error('a header needs a secret that was not released');
}

function transportOf(socket: WebSocket, { id, url, gate, headers, reader }: AcpRemoteOptions): AcpTransport {
  const inbox = new MessageInbox();
  const own = Object.values(headers).map(ownRedactor);
  let fault: string | undefined;
  // Messages are handled in order; reading pauses while one is handled or the inbox is full.
  let reading: Promise<void> = Promise.resolve();
  socket.on('message', (data, isBinary) => {
    const raw = (data as Buffer).toString();
    const text = isBinary ? '' : (everyRedactor([gate.redactorFor(url), ...own])?.text(raw) ?? raw);
    socket.pause();
    reading = reading
      .then(async () => inbox.push(await reader.read(text, { caller: `agent ${id}`, waits: true })))
      .finally(() => socket.resume());
  });
  socket.on('error', (error) => {
    fault = socketFault(error, MAX_FRAME_BYTES);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const lost = closed
    .then(() => reading)
    .then(() => {
      inbox.end();
      return `The connection to the agent was lost${fault === undefined ? '' : `: ${fault}`}.`;
    });
  return {
    messages: inbox,
    lost,
    send: (message) => {
      if (socket.bufferedAmount > MOST_UNSENT) {
        socket.terminate();
        throw new AcpLineLost('The agent does not read its input.');
      }
      socket.send(JSON.stringify(message), () => {});
    },
    end: async () => {
      inbox.end();
      socket.resume();
      socket.close(1000);
      const late = setTimeout(() => socket.terminate(), CLOSE_MS);
      await closed;
      clearTimeout(late);
    },
  };
}

/** Closes the connection if the peer gives no sign of life from one beat to the next. */
async function beat(socket: WebSocket, { clock }: AcpRemoteOptions, lost: Promise<string>): Promise<void> {
  const over = new AbortController();
  void lost.then(() => over.abort());
  let isSeen = true;
  for (const sign of ['message', 'ping', 'pong']) {
    socket.on(sign, () => {
      isSeen = true;
    });
  }
  while (!over.signal.aborted) {
    await clock.wait(PING_MS, over.signal).catch(() => {});
    if (over.signal.aborted) return;
    if (!isSeen && !socket.isPaused) return socket.terminate();
    isSeen = false;
    socket.ping(() => {});
  }
}

const DIAL_MS = 10_000;
const PING_MS = 30_000;
const CLOSE_MS = 2000;
const MOST_UNSENT = 16 * 1024 * 1024;
