import type { Addressee } from '@dragoman/core';
import type { JsonObject } from '@dragoman/protocols';
import {
  agentCard,
  agentRegistration,
  type CardSource,
  CONTENT_TYPES,
  MAILBOX_VERSION,
} from '@dragoman/protocols/a2a-mailbox';
import { type MailboxConfig, mailboxTerms } from '../config/mailbox-config.ts';
import { cachedJson } from '../http/cached-json.ts';
import type { InboundRequest, Route } from '../http/route.ts';

export interface DiscoveryContext {
  readonly config: MailboxConfig;
  readonly version: string;
  /** The key that signs callbacks. */
  readonly callbackKey: string;
  readonly addressees: () => readonly (Addressee & { readonly description?: string | undefined })[];
  /** The extensions of Linux Foundation A2A that describe features without a field of their own. */
  readonly extensions: () => readonly CardExtension[];
  /** The A2A card of the default agent. */
  readonly rootCard: {
    /** The card with `others` after its own interfaces, before it is signed; `undefined` without a default agent. */
    unsigned(request: InboundRequest, others: readonly JsonObject[]): Promise<JsonObject | undefined>;
    sign(card: JsonObject, request: InboundRequest): Promise<JsonObject>;
  };
  readonly publicUrl: string | undefined;
  /** The ids of the agents that senders without a key may write to. Only these are listed for them. */
  readonly anonymous: () => readonly string[];
}

/** A feature of the server that a card lists as an extension. */
export interface CardExtension {
  readonly uri: string;
  readonly description: string;
  readonly params: JsonObject;
}

/** The cards of this server, made from its configuration. */
export function discoveryRoutes(context: DiscoveryContext): Route[] {
  const sourceFor = (request: InboundRequest) => cardSource(request, context);
  const document = (
    path: string,
    summary: string,
    document: (request: InboundRequest) => JsonObject | Promise<JsonObject>,
  ): Route => ({
    method: 'GET',
    path,
    access: 'open',
    counts: false,
    summary,
    handle: async (request) => cachedJson(request, await document(request), 'A2A-Version'),
  });
  const card = async (request: InboundRequest) => {
    const { capabilities, ...mailbox } = agentCard(sourceFor(request));
    const { capabilities: lfCapabilities, ...agent } =
      (await context.rootCard.unsigned(request, mailbox.supportedInterfaces)) ?? {};
    // `required` is left out: no extension is required, and ProtoJSON omits false values.
    const extensions = [...(capabilities.extensions ?? []), ...context.extensions()].map(
      ({ uri, description, params }) => ({ uri, description, params }),
    );
    const { name, description } = context.config;
    const whole = {
      ...mailbox,
      ...agent,
      // The configured name of the server takes precedence over the agent's name.
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      capabilities: { ...((lfCapabilities ?? capabilities) as JsonObject), extensions },
    } as JsonObject;
    return context.rootCard.sign(whole, request);
  };
  return [
    document('/.well-known/agent-card.json', 'The A2A card of the default agent, and of this mailbox.', card),
    document('/.well-known/agent.json', 'The same card, at the path that older clients use.', card),
    document(
      '/.well-known/agent-registration.json',
      'Its ERC-8004 registration.',
      (request) => agentRegistration(sourceFor(request)) as JsonObject,
    ),
    document('/agent', 'A short description of this mailbox, for senders.', (request) => inShort(request, context)),
  ];
}

function cardSource(request: InboundRequest, context: DiscoveryContext): CardSource {
  const { config, version, callbackKey, publicUrl } = context;
  const { iconUrl, provider, supportedTrust, active } = config;
  const { timeoutMs, retries, content } = mailboxTerms(config);
  return {
    name: config.name,
    description: config.description,
    url: config.url ?? publicUrl ?? request.baseUrl,
    version,
    agentId: config.agentId,
    callbackKey,
    ...(iconUrl !== undefined && { iconUrl }),
    ...(provider !== undefined && { provider }),
    ...(supportedTrust !== undefined && { supportedTrust }),
    ...(active !== undefined && { active }),
    callbacks: { timeoutSeconds: timeoutMs / 1000, retries },
    content,
    skills: known(request, context).map(({ id, name, description, skills }) => ({
      id,
      name: name ?? id,
      description: description ?? '',
      tags: [...(skills ?? [])],
    })),
  };
}

function inShort(request: InboundRequest, context: DiscoveryContext): JsonObject {
  const source = cardSource(request, context);
  const { config, callbackKey } = context;
  const { perMinute, maxConcurrent, content } = mailboxTerms(config);
  return {
    name: source.name,
    agentId: source.agentId ?? null,
    description: source.description,
    version: source.version,
    protocol: 'A2A',
    specVersion: MAILBOX_VERSION,
    endpoint: `${source.url.replace(/\/$/, '')}/a2a`,
    contentTypes: [...CONTENT_TYPES],
    anonymous: context.anonymous().length > 0,
    agents: known(request, context).map(({ id, name, agentId, description, skills }) => ({
      id,
      name: name ?? id,
      agentId: agentId ?? null,
      description: description ?? '',
      taskTypes: [...(skills ?? [])],
    })),
    limits: {
      requestsPerMinute: perMinute,
      concurrentRequests: maxConcurrent,
      ...content,
    },
    callbacks: {
      publicKey: callbackKey,
      signatures: ['v1', 'v1a'],
      ...source.callbacks,
    },
  };
}

/**
 * The agents that `GET /agents` lists, for a caller with a key; otherwise the agents that accept messages without a
 * key.
 */
function known({ principal }: InboundRequest, { addressees, anonymous }: DiscoveryContext) {
  if (principal !== undefined) return addressees();
  const listed = anonymous();
  return addressees().filter(({ id }) => listed.includes(id));
}
