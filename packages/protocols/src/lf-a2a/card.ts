import type { Json, JsonObject } from '../json.ts';
import type { A2aVersion } from './operations.ts';

export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** What a card is made of. */
export interface LfCardSource {
  readonly name: string;
  readonly description: string;
  /** The agent's own version. */
  readonly version: string;
  /** The agent's base URL: JSON-RPC and HTTP+JSON 1.0 are served there, HTTP+JSON 0.3 below it at `/v1`. */
  readonly url: string;
  readonly skills: readonly CardSkill[];
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
  readonly iconUrl?: string | undefined;
  /** Interfaces of other protocols, after those of A2A. */
  readonly otherInterfaces?: readonly JsonObject[];
}

/**
 * The card of one agent. Version 1.0 is the card of A2A 1.0 alone. For 0.3, which is also what a client without a version gets, the
 * members of 0.3 stand beside it: clients of both versions then find what they look for.
 */
export function lfAgentCard(source: LfCardSource, version: A2aVersion): JsonObject {
  const { name, description, url, iconUrl, provider } = source;
  const modes = ['text/plain', 'application/json'];
  const card: JsonObject = {
    name,
    description,
    version: source.version,
    ...(provider !== undefined && { provider: { ...provider } }),
    ...(iconUrl !== undefined && { iconUrl }),
    supportedInterfaces: [
      ...INTERFACES.map(({ suffix, ...one }): Json => ({ url: `${url}${suffix}`, ...one })),
      ...(source.otherInterfaces ?? []),
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: source.skills.map((skill) => ({ ...skill, tags: [...skill.tags] })),
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
  if (version === '1.0') return card;
  return {
    ...card,
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: INTERFACES.filter(({ protocolVersion }) => protocolVersion === '0.3').map(
      ({ suffix, protocolBinding: transport }): Json => ({ url: `${url}${suffix}`, transport }),
    ),
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'Bearer' } },
    },
    security: [{ bearer: [] }],
  };
}

/** Most wanted first. */
const INTERFACES = [
  { suffix: '', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { suffix: '', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  { suffix: '', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  { suffix: '', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
] as const;
