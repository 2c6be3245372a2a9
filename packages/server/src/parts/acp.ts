import { acpSocketRoutes } from '../routes/acp-socket.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

/** The Agent Client Protocol, for editors and other clients of agents. */
export function openAcpPart({ config, engine, reader, ids, log }: Service): ServerPart {
  return { sockets: acpSocketRoutes({ engine, reader, ids, log, limits: config.limits }) };
}
