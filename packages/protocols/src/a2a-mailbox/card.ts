import { SCHEMA_BASE } from '../schema.ts';
import type { Static } from '../static.ts';
import { parseAgentId } from './agent-id.ts';
import type { ContentLimits } from './content-size.ts';
import { MAILBOX_LIMITS, MAILBOX_VERSION } from './message.ts';

/** The operator's description of the agent, from which its card is built. */
export interface CardSource {
  readonly name: string;
  readonly description: string;
  /** The base URL of the server, such as `https://agent.example`. */
  readonly url: string;
  /** The agent's own version, not the protocol's. */
  readonly version: string;
  /** `eip155:{chainId}:{registryAddress}:{tokenId}`, when the agent is registered. */
  readonly agentId?: string | null;
  readonly iconUrl?: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly skills?: readonly AgentSkill[];
  readonly supportedTrust?: readonly string[];
  readonly active?: boolean;
  /** The public key that callbacks are signed with, as in Standard Webhooks: `whpk_…`. */
  readonly callbackKey?: string;
  /** The retry schedule of callbacks, if it differs from the spec's. */
  readonly callbacks?: { readonly timeoutSeconds: number; readonly retries: number };
  /** The content limit, if it differs from the spec's. */
  readonly content?: ContentLimits;
}

/**
 * The card at `/.well-known/agent-card.json` and `agent.json`: the Linux Foundation A2A fields that clients discover
 * agents by, and the ERC-8004 registration.
 */
export function agentCard(source: CardSource): MailboxCard {
  return {
    ...agentRegistration(source),
    version: source.version,
    ...(source.iconUrl !== undefined && { iconUrl: source.iconUrl }),
    ...(source.provider !== undefined && { provider: { ...source.provider } }),
    supportedInterfaces: [
      { url: mailboxUrl(source), protocolBinding: MAILBOX_BINDING, protocolVersion: MAILBOX_VERSION },
    ],
    capabilities: {
      streaming: false,
      // This flag is about Linux Foundation A2A push. The mailbox's callbacks are described by the extension below.
      pushNotifications: false,
      stateTransitionHistory: false,
      extensions: [callbacksOf(source)],
    },
    defaultInputModes: ['text/plain', 'application/json', 'text/markdown'],
    defaultOutputModes: ['text/plain', 'application/json', 'text/markdown'],
    skills: (source.skills ?? []).map((skill) => ({ ...skill, tags: [...skill.tags] })),
  };
}

/** The ERC-8004 registration file at `/.well-known/agent-registration.json`. */
export function agentRegistration(source: CardSource): AgentRegistration {
  return {
    type: REGISTRATION_TYPE,
    name: source.name,
    description: source.description,
    ...(source.iconUrl !== undefined && { image: source.iconUrl }),
    services: [
      { name: 'A2A', endpoint: `${baseUrl(source)}/.well-known/agent-card.json`, version: MAILBOX_VERSION },
      { name: 'mailbox', endpoint: mailboxUrl(source), version: MAILBOX_VERSION },
    ],
    registrations: registrationsOf(source.agentId),
    supportedTrust: [...(source.supportedTrust ?? [])],
    x402Support: false,
    active: source.active ?? true,
  };
}

function registrationsOf(agentId: string | null | undefined): AgentRegistration['registrations'] {
  const parsed = parseAgentId(agentId ?? '');
  if (parsed === undefined) return [];
  // A token id is a number in ERC-8004; ids that a double cannot represent stay text.
  const number = Number(parsed.tokenId);
  return [
    {
      agentId: Number.isSafeInteger(number) ? number : parsed.tokenId,
      agentRegistry: `eip155:${parsed.chainId}:${parsed.registry}`,
    },
  ];
}

function callbacksOf({ callbackKey: publicKey, callbacks, content = MAILBOX_LIMITS }: CardSource): CallbackExtension {
  const { contentCharacters: maxContentCharacters, contentBytes: maxContentBytes } = content;
  const limits = { maxContentCharacters, maxContentBytes };
  const params = { ...CALLBACKS.params, ...callbacks, ...limits, ...(publicKey !== undefined && { publicKey }) };
  return { ...CALLBACKS, params };
}

function mailboxUrl(source: CardSource): string {
  return `${baseUrl(source)}/a2a`;
}

function baseUrl({ url }: CardSource): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;

const AgentSkill = {
  type: 'object',
  required: ['id', 'name', 'description', 'tags'],
  properties: { id: text, name: text, description: text, tags: texts },
} as const;
export type AgentSkill = Static<typeof AgentSkill>;

export const AgentRegistration = {
  type: 'object',
  required: ['type', 'name', 'description', 'services', 'registrations', 'supportedTrust', 'x402Support', 'active'],
  properties: {
    type: text,
    name: text,
    description: text,
    image: text,
    services: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'endpoint'],
        properties: { name: text, endpoint: text, version: text },
      },
    },
    registrations: {
      type: 'array',
      items: {
        type: 'object',
        required: ['agentId', 'agentRegistry'],
        properties: { agentId: { type: ['integer', 'string'] }, agentRegistry: text },
      },
    },
    supportedTrust: texts,
    x402Support: { type: 'boolean' },
    active: { type: 'boolean' },
  },
} as const;
export type AgentRegistration = Static<typeof AgentRegistration>;

export const MailboxCard = {
  type: 'object',
  // biome-ignore format: a plain list
  required: [
    ...AgentRegistration.required, 'version', 'supportedInterfaces', 'capabilities', 'defaultInputModes',
    'defaultOutputModes', 'skills',
  ],
  properties: {
    ...AgentRegistration.properties,
    version: text,
    iconUrl: text,
    provider: { type: 'object', required: ['organization', 'url'], properties: { organization: text, url: text } },
    supportedInterfaces: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['url', 'protocolBinding', 'protocolVersion'],
        properties: { url: text, protocolBinding: text, protocolVersion: text },
      },
    },
    capabilities: {
      type: 'object',
      properties: {
        streaming: { type: 'boolean' },
        pushNotifications: { type: 'boolean' },
        stateTransitionHistory: { type: 'boolean' },
        extensions: {
          type: 'array',
          items: {
            type: 'object',
            required: ['uri'],
            properties: { uri: text, description: text, required: { type: 'boolean' }, params: { type: 'object' } },
          },
        },
      },
    },
    defaultInputModes: texts,
    defaultOutputModes: texts,
    skills: { type: 'array', items: AgentSkill },
  },
} as const;
export type MailboxCard = Static<typeof MailboxCard>;

/** The mailbox is not a binding that Linux Foundation A2A defines, so it is named by its own URI (A2A 1.0 §5.8). */
export const MAILBOX_BINDING = `${SCHEMA_BASE}/a2a-mailbox`;

const REGISTRATION_TYPE = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1';

interface CallbackExtension {
  uri: string;
  description: string;
  required: boolean;
  params: { [name: string]: number | string };
}

/** Callbacks and limits, as an extension: Linux Foundation A2A has no field for them. */
const CALLBACKS: CallbackExtension = {
  uri: `${SCHEMA_BASE}/a2a-mailbox/callbacks`,
  description: 'Answers are posted to from.callbackUrl (https only) when they are ready.',
  required: false,
  params: {
    timeoutSeconds: 10,
    retries: 3,
  },
};
