import { type Callback, createClient, DragomanError } from '@dragoman/client';
import type { MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import { PROGRAM } from '../command.ts';
import { findServer } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { devDataIn } from '../dev-keys.ts';
import { paint } from '../paint.ts';
import { fail, type Trouble } from '../trouble.ts';
import { visible } from '../visible.ts';
import { LISTEN_PORT, type ListenCertificate, listenCertificate } from './certificate.ts';
import { Receiver } from './receiver.ts';

export interface ListenOptions {
  readonly port?: number;
  readonly secret?: string;
  readonly publicKey?: string;
  readonly url?: string;
  readonly data?: string;
}

/** The `listen` command: a local receiver of callbacks. */
export async function listen(options: ListenOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal, now } = context;
  const keys = await keysFor(options, context);
  const certificate = certificateIn(devDataIn(options, context), now());
  const show = options.json ? asJson : asText(paint(terminal.colour.out));
  await using receiver = await Receiver.listen(options.port ?? LISTEN_PORT, certificate, {
    keys: async () => keys,
    onAnswer: (answer, callback) => terminal.out(`${show(answer, callback)}\n`),
    note: (line) => terminal.note(`${line}\n`),
  }).catch((error: NodeJS.ErrnoException) => fail(cannotListen(error)));
  const { url, port } = receiver;
  if (options.json) terminal.out(`${JSON.stringify({ event: 'listening', url, ca: certificate.path })}\n`);
  else terminal.note(greeting({ url, port, certificate }));
  await new Promise<void>((ended) => {
    const forget = context.onSignal(() => {
      forget();
      ended();
    });
  });
  return 0;
}

function certificateIn(data: string, now: Date): ListenCertificate {
  try {
    return listenCertificate(data, now);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail({
      code: 'data_folder',
      message: `the certificate cannot be stored in ${data}: ${why}`,
      fixes: [`choose a writable folder: ${PROGRAM} listen --data FOLDER`],
    });
  }
}

function cannotListen({ code, message, port }: NodeJS.ErrnoException & { port?: number }): Trouble {
  return {
    code: 'port_taken',
    message: code === 'EADDRINUSE' ? `port ${port} is already in use` : `cannot listen: ${message}`,
    fixes: [`choose another: ${PROGRAM} listen --port 0`],
  };
}

/** The key for signatures: the given one, else the server's. */
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
      message: `the server at ${url} does not publish its signing key: ${error.message}`,
      fixes: [`start it with: ${PROGRAM} dev`, 'or specify it with --url', 'or give the key with --public-key'],
    });
  }
}

function asJson(answer: MailboxResponse, { id, signedAt }: Callback): string {
  return JSON.stringify({ event: 'callback', id, signed_at: signedAt.toISOString(), answer });
}

function asText({ bold, dim, green, red }: ReturnType<typeof paint>) {
  return ({ replyTo, threadId, from, message, metadata }: MailboxResponse, { id }: Callback): string => {
    const status = metadata.status === 'error' ? red('error') : green(visible(metadata.status ?? 'answered'));
    const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content);
    const thread = threadId === null ? '' : `, thread ${threadId}`;
    const facts = visible(`${id}, in reply to ${replyTo}${thread}, signature valid`);
    // Every line is indented, because a line at the margin would look like another callback.
    const indented = visible(content).trimEnd().replaceAll('\n', '\n  ');
    return `from ${bold(visible(from.name))}: ${status}, ${dim(facts)}\n  ${indented}`;
  };
}

function greeting({ url, port, certificate }: { url: string; port: number; certificate: ListenCertificate }): string {
  return [
    `listening for callbacks at ${url}`,
    port === LISTEN_PORT
      ? `a server of \`${PROGRAM} dev\` can already call it; any other server needs this in its configuration:`
      : 'the server needs this in its configuration:',
    `  gate: { callbacks: ["127.0.0.1:${port}"], ca: [${JSON.stringify(certificate.path)}] }`,
    '',
  ].join('\n');
}
