import { canonicalJson } from '../canonical-json.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { A2aVersion } from './operations.ts';

export interface CardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export interface LfCardSource {
  readonly name: string;
  readonly description: string;
  /** The agent's own version. */
  readonly version: string;
  /** The base URL at which all A2A interfaces of the agent are served. */
  readonly url: string;
  readonly skills: readonly CardSkill[];
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
  readonly iconUrl?: string | undefined;
  /** Interfaces of other protocols, after those of A2A. */
  readonly otherInterfaces?: readonly JsonObject[];
}

/**
 * The card of one agent. For 1.0, it has only the members of A2A 1.0. For 0.3, the default of clients that name no
 * version, the members of 0.3 are added, so that clients of both versions can read it.
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
    supportedInterfaces: [...INTERFACES.map((one): Json => ({ url, ...one })), ...(source.otherInterfaces ?? [])],
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
      ({ protocolBinding: transport }): Json => ({ url, transport }),
    ),
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'Bearer' } },
    },
    security: [{ bearer: [] }],
  };
}

/**
 * The texts to sign: the canonical JSON of the card (specification §8.4.1) and, if it differs, that of only the
 * non-empty members of 1.0, which the official SDKs verify.
 */
export function signedTexts({ signatures: _, ...card }: JsonObject): string[] {
  const whole = canonicalJson(card);
  const members = Object.entries(card).filter(([name]) => MEMBERS.has(name));
  const short = canonicalJson(withoutEmpty(Object.fromEntries(members)) ?? {});
  return whole === short ? [whole] : [short, whole];
}

function withoutEmpty(value: Json): Json | undefined {
  if (value === '' || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const kept = withoutEmpty(member);
    return kept === undefined ? [] : [[name, kept]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The members of a card of 1.0 (specification §4.4.1). */
const MEMBERS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'supportedInterfaces',
  'provider',
  'version',
  'documentationUrl',
  'iconUrl',
  'capabilities',
  'securitySchemes',
  'securityRequirements',
  'defaultInputModes',
  'defaultOutputModes',
  'skills',
]);

/** In order of preference. Clients of HTTP+JSON 0.3 add `/v1` to the URL themselves. */
const INTERFACES = [
  { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  { protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
] as const;
