import { AcpHttpConnections, acpHttpRoutes } from '../routes/acp-http.ts';
import { acpSocketRoutes } from '../routes/acp-socket.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

/** The Agent Client Protocol, for editors and other clients of agents. */
export function openAcpPart({ config, cluster, engine, reader, ids, log, clock, unread }: Service): ServerPart {
  const { limits } = config;
  const context = { cluster, engine, reader, ids, log, clock, unread, limits, maxBytes: limits.body_bytes };
  const connections = new AcpHttpConnections(context);
  return {
    routes: acpHttpRoutes(context, connections),
    sockets: acpSocketRoutes(context),
    drain: async () => connections.finish(),
  };
}
