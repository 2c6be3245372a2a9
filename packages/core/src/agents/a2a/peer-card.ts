import { createHash } from 'node:crypto';
import {
  accept,
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  reject,
  show,
} from '@dragoman/protocols';
import type { A2aVersion } from '@dragoman/protocols/lf-a2a';

/** An interface of a remote agent: its URL, binding and version. */
export interface PeerInterface {
  readonly url: string;
  readonly binding: PeerBinding;
  readonly version: A2aVersion;
  readonly tenant?: string | undefined;
}

export type PeerBinding = 'JSONRPC' | 'HTTP+JSON';

export interface PeerSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** How callers authenticate, as the card declares it. */
export interface PeerScheme {
  readonly name: string;
  readonly kind: string;
  /** The header that carries an API key. */
  readonly header?: string | undefined;
}

/** The members of a remote agent's card that this server uses or shows. */
export interface PeerCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** The interfaces that this server supports, best first. */
  readonly interfaces: readonly PeerInterface[];
  /** The interfaces that this server does not support, as text to show. */
  readonly otherInterfaces: readonly string[];
  readonly streaming: boolean;
  readonly outputModes: readonly string[];
  readonly skills: readonly PeerSkill[];
  readonly schemes: readonly PeerScheme[];
  /** The members that decide where messages go and what the agent claims to do, as JSON text. */
  readonly definition: string;
  /** The hash of `definition`. */
  readonly hash: string;
}

/** Reads a card of A2A 1.0, of 0.3, or of both in one. `base`: where it was found. `only`: the version to use. */
export function decodePeerCard(json: Json, base: string, only?: A2aVersion): Outcome<PeerCard> {
  if (!isObject(json))
    return reject({ pointer: '', code: 'type', message: `the card must be an object; got ${show(json)}` });
  const { name, description, version, capabilities } = json;
  if (typeof name !== 'string' || name === '')
    return reject({ pointer: '/name', code: 'required', message: `name must be a string; got ${show(name)}` });
  const listed = listedInterfaces(json);
  const usable = listed.flatMap((one) => usableInterface(one, base));
  const interfaces = usable.filter((one) => only === undefined || one.version === only).sort(byPreference);
  if (interfaces.length === 0) return reject(noInterface(listed, only));
  return accept({
    name: name.slice(0, 100),
    description: textOr(description, '').slice(0, 500),
    version: textOr(version, ''),
    interfaces: interfaces.slice(0, MOST_INTERFACES),
    otherInterfaces: listed.filter((one) => usableInterface(one, base).length === 0).map(interfaceText),
    streaming: isObject(capabilities) && capabilities['streaming'] === true,
    outputModes: textsIn(json['defaultOutputModes']),
    skills: objectsIn(json['skills']).slice(0, MOST_SKILLS).map(skillOf),
    schemes: schemesOf(json['securitySchemes']),
    ...agreedIn(json),
  });
}

/** An interface as a card writes it, in the members of 1.0. */
interface ListedInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant: string | undefined;
}

/** 1.0 has a list; 0.3 has one interface at the top level and further ones beside it. A card for both versions has both. */
function listedInterfaces(card: JsonObject): ListedInterface[] {
  const modern = objectsIn(card['supportedInterfaces']).map((one) => ({
    url: textOr(one['url'], ''),
    binding: textOr(one['protocolBinding'] ?? one['transport'], 'JSONRPC'),
    version: textOr(one['protocolVersion'], '1.0'),
    tenant: textOr(one['tenant'], '') || undefined,
  }));
  const version = textOr(card['protocolVersion'], '0.3.0');
  const { url } = card;
  const main = typeof url === 'string' ? [{ url, transport: card['preferredTransport'] ?? 'JSONRPC' }] : [];
  const old = [...main, ...objectsIn(card['additionalInterfaces'])].map((one: JsonObject) => ({
    url: textOr(one['url'], ''),
    binding: textOr(one['transport'], 'JSONRPC'),
    version,
    tenant: undefined,
  }));
  const seen = new Set<string>();
  return [...modern, ...old].slice(0, MOST_LISTED).filter((one) => {
    const key = `${one.url} ${one.binding} ${one.version.split('.', 2).join('.')}`;
    return !seen.has(key) && seen.add(key);
  });
}

function usableInterface({ url, binding, version, tenant }: ListedInterface, base: string): PeerInterface[] {
  const supported = /^1\.\d/.test(version) ? '1.0' : /^0\.[23]/.test(version) ? '0.3' : undefined;
  const known = binding === 'JSONRPC' || binding === 'HTTP+JSON' ? binding : undefined;
  if (supported === undefined || known === undefined || !URL.canParse(url, base)) return [];
  const at = new URL(url, base);
  if (!/^https?:$/.test(at.protocol) || at.username !== '' || at.password !== '') return [];
  return [{ url: at.href, binding: known, version: supported, tenant }];
}

/** 1.0 before 0.3, and JSON-RPC, which every server has, before HTTP+JSON. */
function byPreference(one: PeerInterface, other: PeerInterface): number {
  return rank(one) - rank(other);
}

function rank({ version, binding }: PeerInterface): number {
  return (version === '1.0' ? 0 : 2) + (binding === 'JSONRPC' ? 0 : 1);
}

function noInterface(listed: readonly ListedInterface[], only: A2aVersion | undefined) {
  const got = listed.length === 0 ? 'none' : listed.map(interfaceText).join(', ').slice(0, 300);
  const wanted = only === undefined ? '1.x or 0.3' : only;
  return {
    pointer: '/supportedInterfaces',
    code: 'interface',
    message: `the card must list a JSONRPC or HTTP+JSON interface of A2A ${wanted}; got ${got}`,
  };
}

function interfaceText({ url, binding, version }: ListedInterface): string {
  return `${binding} ${version} ${url}`.slice(0, 200);
}

function skillOf(skill: JsonObject): PeerSkill {
  const id = textOr(skill['id'], textOr(skill['name'], ''));
  return { id, name: textOr(skill['name'], id), description: textOr(skill['description'], '').slice(0, 500) };
}

/** 1.0 names the kind by a member, 0.3 by `type`. */
function schemesOf(schemes: Json | undefined): PeerScheme[] {
  if (!isObject(schemes)) return [];
  return Object.entries(schemes)
    .slice(0, MOST_LISTED)
    .map(([name, scheme]): PeerScheme => {
      if (!isObject(scheme)) return { name, kind: 'unknown' };
      const key = isObject(scheme['apiKeySecurityScheme']) ? scheme['apiKeySecurityScheme'] : scheme;
      const isKey = key !== scheme || scheme['type'] === 'apiKey';
      if (isKey) {
        const place = textOr(key['location'] ?? key['in'], '');
        return {
          name,
          kind: `apiKey in ${place}`,
          header: place === 'header' ? textOr(key['name'], '') || undefined : undefined,
        };
      }
      const http = isObject(scheme['httpAuthSecurityScheme']) ? scheme['httpAuthSecurityScheme'] : scheme;
      if (http !== scheme || scheme['type'] === 'http')
        return { name, kind: `http ${textOr(http['scheme'], '')}`.trim() };
      const member = Object.keys(scheme).find((one) => one.endsWith('SecurityScheme'));
      return { name, kind: textOr(scheme['type'], member?.replace('SecurityScheme', '') ?? 'unknown') };
    });
}

/** The members that an operator accepts. A new release number, icon or signature does not need to be accepted again. */
function agreedIn(card: JsonObject): Pick<PeerCard, 'definition' | 'hash'> {
  const { name, description, skills, url, preferredTransport, protocolVersion, supportedInterfaces } = card;
  const { additionalInterfaces, securitySchemes, securityRequirements, security, capabilities } = card;
  const agreed = {
    ...{ name, description, skills, url, preferredTransport, protocolVersion, supportedInterfaces },
    ...{ additionalInterfaces, securitySchemes, securityRequirements, security, capabilities },
  };
  const definition = canonicalJson(JSON.parse(JSON.stringify(agreed)) as Json);
  return { definition, hash: createHash('sha256').update(definition).digest('hex') };
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function textsIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string').slice(0, MOST_LISTED) : [];
}

function textOr(value: Json | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

const MOST_INTERFACES = 4;
const MOST_LISTED = 32;
const MOST_SKILLS = 200;
