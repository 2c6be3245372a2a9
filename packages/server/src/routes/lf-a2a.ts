import type { Principal } from '@dragoman/core';
import { failure, type JsonObject } from '@dragoman/protocols';
import type { InboundRequest, Route } from '../http/route.ts';
import { A2A_VERSION, versionOf } from './lf-a2a-bindings.ts';
import { type HttpJsonContext, httpJsonRoutes } from './lf-a2a-http-json.ts';
import { jsonRpcRoute } from './lf-a2a-json-rpc.ts';

export interface LfA2aContext extends HttpJsonContext {
  /** Whether the card of an agent is shown without a key. */
  readonly isPublic: (agentId: string) => boolean;
  readonly canReach: (principal: Principal, agentId: string) => boolean;
  readonly catalog: (request: InboundRequest) => JsonObject;
}

/**
 * Linux Foundation A2A 1.0 and 0.3. Every agent has a base URL: JSON-RPC is posted to it, HTTP+JSON of 1.0 has its paths below it and
 * that of 0.3 below `/v1`. The method tells the version of a JSON-RPC call, the path that of an HTTP+JSON call.
 */
export function lfA2aRoutes(context: LfA2aContext): Route[] {
  const bases = ['/lf-a2a', '/lf-a2a/agents/:agent_id'].flatMap((base) => [
    cardRoute(`${base}/.well-known/agent-card.json`, context),
    jsonRpcRoute(base, context),
    ...['', '/v1'].flatMap((prefix) => httpJsonRoutes(`${base}${prefix}`, prefix === '' ? '1.0' : '0.3', context)),
  ]);
  return [...bases, catalogRoute('/lf-a2a/agents', context), catalogRoute('/.well-known/ai-catalog.json', context)];
}

function catalogRoute(path: string, { catalog }: LfA2aContext): Route {
  return {
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary: 'The A2A agents that this caller may see, each with the URL of its card.',
    handle: (request) => ({ status: 200, json: catalog(request) }),
  };
}

function cardRoute(path: string, { card, agentIn, isPublic, canReach }: LfA2aContext): Route {
  return {
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary: 'The A2A card of an agent, for the version in A2A-Version.',
    parameters: [A2A_VERSION],
    handle: (request) => {
      const agentId = agentIn(request.params['agent_id']);
      const { principal } = request;
      if (principal === undefined && (agentId === undefined || !isPublic(agentId)))
        return failure('unauthenticated', NO_CARD);
      const isVisible =
        agentId !== undefined && (isPublic(agentId) || (principal !== undefined && canReach(principal, agentId)));
      const json = isVisible ? card(agentId, request, versionOf(request) ?? '1.0') : undefined;
      if (json === undefined) return failure('not_found');
      return {
        status: 200,
        headers: { 'Cache-Control': 'private, max-age=60', Vary: 'A2A-Version, Authorization' },
        json,
      };
    },
  };
}

const NO_CARD = { suggestions: ['send a key, or list the agent in lf_a2a.public_cards'] };
