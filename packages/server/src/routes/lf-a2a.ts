import type { PublicJwk } from '@dragoman/core';
import { failure } from '@dragoman/protocols';
import { cachedJson } from '../http/cached-json.ts';
import type { Route } from '../http/route.ts';
import { A2A_VERSION, versionOf } from './lf-a2a-bindings.ts';
import { type HttpJsonContext, httpJsonRoutes } from './lf-a2a-http-json.ts';
import { jsonRpcRoute } from './lf-a2a-json-rpc.ts';

export interface LfA2aContext extends HttpJsonContext {
  /** The key that signs cards. */
  readonly jwk: PublicJwk;
}

/**
 * Linux Foundation A2A 1.0 and 0.3. Every agent has a base URL. JSON-RPC is posted to it, and the method determines the
 * version. The paths of HTTP+JSON are directly below it in 1.0, and below `/v1` in 0.3.
 */
export function lfA2aRoutes(context: LfA2aContext): Route[] {
  const bases = ['/lf-a2a', '/lf-a2a/agents/:agent_id'].flatMap((base) => [
    cardRoute(`${base}/.well-known/agent-card.json`, context),
    jsonRpcRoute(base, context),
    ...['', '/v1'].flatMap((prefix) => httpJsonRoutes(`${base}${prefix}`, prefix === '' ? '1.0' : '0.3', context)),
  ]);
  return [...bases, listRoute(context), catalogRoute(context), keysRoute(context)];
}

function listRoute({ cards }: LfA2aContext): Route {
  return {
    method: 'GET',
    path: '/lf-a2a/agents',
    access: 'open',
    counts: false,
    summary: 'List the A2A agents that this caller may see, with their card URLs.',
    handle: async (request) => cachedJson(request, await cards.list(request), 'Accept'),
  };
}

function catalogRoute({ cards }: LfA2aContext): Route {
  return {
    method: 'GET',
    path: '/.well-known/ai-catalog.json',
    access: 'open',
    counts: false,
    summary: 'The same agents as an AI Catalog.',
    handle: (request) => cachedJson(request, cards.catalog(request), 'Accept', 'application/ai-catalog+json'),
  };
}

function keysRoute({ jwk }: LfA2aContext): Route {
  return {
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: 'public',
    counts: false,
    summary: 'The public key that cards are signed with, as a JSON Web Key Set.',
    handle: (request) => cachedJson(request, { keys: [{ ...jwk }] }, 'Accept'),
  };
}

function cardRoute(path: string, { cards, agentIn }: LfA2aContext): Route {
  return {
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary: 'The A2A card of an agent, for the version in A2A-Version.',
    parameters: [A2A_VERSION],
    handle: async (request) => {
      const agentId = agentIn(request.params['agent_id']);
      const isVisible = agentId !== undefined && cards.isVisible(agentId, request);
      // Without a key, an agent that is hidden and one that does not exist look the same.
      if (!isVisible && request.principal === undefined) return failure('unauthenticated', NO_CARD);
      const card = isVisible ? await cards.card(agentId, request, versionOf(request) ?? '1.0') : undefined;
      return card === undefined ? failure('not_found') : cachedJson(request, card, 'A2A-Version');
    },
  };
}

const NO_CARD = { suggestions: ['send a key, or list the agent in lf_a2a.public_cards'] };
