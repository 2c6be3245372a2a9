import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type Callback, CallbackReceiver, CallbackRefused, createClient, DragomanError } from '@dragoman/client';
import type { MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import { PROGRAM } from '../command.ts';
import { findServer } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { DEFAULT_DEV_DATA } from '../dev-keys.ts';
import { given } from '../environment.ts';
import { paint, printable } from '../paint.ts';
import { shortPath } from '../short-path.ts';
import { fail } from '../trouble.ts';
import { LISTEN_PORT, type ListenCertificate, listenCertificate } from './certificate.ts';

export interface ListenOptions {
  readonly port?: number;
  readonly secret?: string;
  readonly publicKey?: string;
  readonly url?: string;
  readonly data?: string;
}

/** The `listen` command: a local receiver of callbacks. */
export async function listen(options: ListenOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal, folder, environment, now } = context;
  const keys = await keysFor(options, context);
  const data = resolve(folder, options.data ?? given(environment, 'DRAGOMAN_DATA') ?? DEFAULT_DEV_DATA);
  const certificate = listenCertificate(data, now());
  const show = options.json ? asJson : asText(paint(terminal.colour.out));
  const receiver = new CallbackReceiver({
    ...keys,
    onAnswer: (answer, callback) => terminal.out(`${show(answer, callback)}\n`),
  });
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    receive(request, response, receiver, (line) => terminal.note(`${line}\n`));
  });
  server.listen(options.port ?? LISTEN_PORT, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    fail({ code: 'port_taken', message: `cannot listen: ${error.message}`, fixes: ['choose another with --port'] });
  });
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/`;
  if (options.json) terminal.out(`${JSON.stringify({ event: 'listening', url, ca: certificate.path })}\n`);
  else terminal.note(greeting({ url, port, certificate, folder }));
  await new Promise<void>((ended) => {
    const forget = context.onSignal(() => {
      forget();
      ended();
    });
  });
  server.closeAllConnections();
  server.close();
  return 0;
}

/** What to check signatures by: as told, else the key of the server. */
async function keysFor(
  options: ListenOptions,
  context: Context,
): Promise<{ readonly secret?: string; readonly publicKey?: string }> {
  const { secret, publicKey } = options;
  if (secret !== undefined || publicKey !== undefined) {
    return { ...(secret !== undefined && { secret }), ...(publicKey !== undefined && { publicKey }) };
  }
  const { url } = findServer(options, context);
  try {
    return { publicKey: (await createClient({ url }).mailbox.about()).callbacks.publicKey };
  } catch (error) {
    if (!(error instanceof DragomanError)) throw error;
    return fail({
      code: error.code,
      message: `the server at ${url} does not tell the key it signs with: ${error.message}`,
      fixes: [`start it with: ${PROGRAM} dev`, 'or name it with --url', 'or give the key with --public-key'],
    });
  }
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  receiver: CallbackReceiver,
  note: (line: string) => void,
): Promise<void> {
  try {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of request) {
      bytes += (part as Uint8Array).length;
      if (bytes > MAX_BYTES) throw new CallbackRefused(413, `a callback has at most ${MAX_BYTES} bytes`);
      parts.push(part as Uint8Array);
    }
    const { id, isRepeat } = await receiver.receive({ headers: request.headers, body: Buffer.concat(parts) });
    if (isRepeat) note(`${printable(id)} came again`);
    response.writeHead(204).end();
  } catch (error) {
    const [status, message] = error instanceof CallbackRefused ? [error.status, error.message] : [500, String(error)];
    note(`refused with ${status}: ${printable(message)}`);
    response.writeHead(status).end();
  }
}

function asJson(answer: MailboxResponse, { id, signedAt }: Callback): string {
  return JSON.stringify({ event: 'callback', id, signed_at: signedAt.toISOString(), answer });
}

function asText({ bold, dim, green, red }: ReturnType<typeof paint>) {
  return ({ replyTo, threadId, from, message, metadata }: MailboxResponse, { id }: Callback): string => {
    const status = metadata.status === 'error' ? red('error') : green(printable(metadata.status ?? 'answered'));
    const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
    const thread = threadId === null ? '' : `, thread ${threadId}`;
    const facts = printable(`${id}, answers ${replyTo}${thread}, signature good`);
    return `${bold(printable(from.name))} ${status} ${dim(facts)}\n  ${printable(content)}`;
  };
}

function greeting(parts: { url: string; port: number; certificate: ListenCertificate; folder: string }): string {
  const { url, port, certificate, folder } = parts;
  return [
    `listening for callbacks at ${url}`,
    port === LISTEN_PORT
      ? `a server of \`${PROGRAM} dev\` calls it back already; any other one needs this in its configuration:`
      : 'the server needs this in its configuration:',
    `  gate: { allow: ["127.0.0.1:${port}"], ca: [${JSON.stringify(shortPath(folder, certificate.path))}] }`,
    '',
  ].join('\n');
}

const MAX_BYTES = 4 * 1024 * 1024;
