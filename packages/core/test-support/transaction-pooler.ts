import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Between clients and PostgreSQL, as a connection pooler in transaction mode is: what a client sends after the end of a transaction goes to
 * another connection than what it sent before.
 */
export async function startTransactionPooler(
  path: string,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((client) => {
    const upstreams = [connect(path), connect(path)];
    const ends = () => {
      for (const socket of [client, ...upstreams]) socket.destroy();
    };
    for (const socket of [client, ...upstreams]) socket.on('error', ends).on('close', ends);
    pool(client, upstreams);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, server };
}

function pool(client: Socket, upstreams: readonly Socket[]): void {
  const batches: Buffer[] = [];
  let current = 0;
  let isBusy = true;
  let signedIn = 0;
  const next = () => {
    const batch = isBusy ? undefined : batches.shift();
    if (batch === undefined) return;
    isBusy = true;
    upstreams[current]?.write(batch);
  };
  let unread: Buffer = Buffer.alloc(0);
  let batch: Buffer[] = [];
  let hasStarted = false;
  client.on('data', (data) => {
    unread = Buffer.concat([unread, data]);
    for (;;) {
      // The first message has no type.
      const head = hasStarted ? 1 : 0;
      const length = unread.length < head + 4 ? Number.POSITIVE_INFINITY : unread.readInt32BE(head) + head;
      if (unread.length < length) return;
      const message = unread.subarray(0, length);
      unread = unread.subarray(length);
      if (!hasStarted) {
        hasStarted = true;
        for (const upstream of upstreams) upstream.write(message);
        continue;
      }
      batch.push(message);
      // Query, Sync and Terminate.
      if (!'QSX'.includes(message.toString('latin1', 0, 1))) continue;
      batches.push(Buffer.concat(batch));
      batch = [];
      next();
    }
  });
  for (const [index, upstream] of upstreams.entries()) {
    let text: Buffer = Buffer.alloc(0);
    let isSignedIn = false;
    upstream.on('data', (data) => {
      text = Buffer.concat([text, data]);
      while (text.length >= 5 && text.length >= text.readInt32BE(1) + 1) {
        const message = text.subarray(0, text.readInt32BE(1) + 1);
        text = text.subarray(message.length);
        const isReady = message.toString('latin1', 0, 1) === 'Z';
        // The client signs in once: it gets the answer of the first server.
        if (isSignedIn || index === 0) client.write(message);
        if (!isReady) continue;
        const isIdle = message.toString('latin1', 5, 6) === 'I';
        if (!isSignedIn) signedIn += 1;
        else if (isIdle) current = (current + 1) % upstreams.length;
        isSignedIn = true;
        isBusy = signedIn < upstreams.length;
        next();
      }
    });
  }
}
