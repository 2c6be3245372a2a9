import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A network between clients and PostgreSQL that can stop delivering, on the connections it has, without closing them. */
export async function startDroppingNetwork(path: string) {
  const connections = new Set<{ isDropped: boolean }>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(path);
    const connection = { isDropped: false };
    connections.add(connection);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => {
        if (!connection.isDropped) to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (!connection.isDropped) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    /** From now on, for the connections there are. */
    drop: () => {
      for (const connection of connections) connection.isDropped = true;
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
