import { e2aRoutes } from '../routes/e2a.ts';
import { e2aSocketRoute } from '../routes/e2a-socket.ts';
import { questionRoutes } from '../routes/questions.ts';
import { requestListRoutes } from '../routes/request-lists.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

/** E2A over HTTP and WebSockets. */
export function openE2APart({ config, engine, store, reader, clock, ids, log }: Service): ServerPart {
  const context = { engine, store, clock, ids, log, limits: config.limits, reader };
  const routes = [...e2aRoutes(context), ...questionRoutes(context), ...requestListRoutes(store)];
  return { routes, sockets: [e2aSocketRoute(context)] };
}
