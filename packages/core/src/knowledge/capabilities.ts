import type { Json, JsonObject } from '@dragoman/protocols';
import { type Capabilities, DEFAULT_LIMITS, OPERATION_NAMES } from '@dragoman/protocols/a2e-workflow';
import type { ApiCatalogue } from '../apis/api.ts';
import { allows, type Principal } from '../call/principal.ts';
import type { KnowledgeBases } from './bases.ts';

/** The public part of a credential: everything but its value. */
export interface CredentialInfo {
  readonly id: string;
  readonly type: string;
  readonly description: string | null;
  /** The destinations to which it may be sent: `host` or `host:port`. */
  readonly hosts: readonly string[];
  /** Where a request may carry it. Default: a header. */
  readonly places?: readonly string[];
}

export interface CredentialCatalogue {
  list(): readonly CredentialInfo[];
}

export interface CapabilitiesOptions {
  readonly apis: ApiCatalogue;
  readonly bases: KnowledgeBases;
  /** Default: no credentials. */
  readonly credentials?: CredentialCatalogue;
  /** Every operation of the server. Default: those of the specification. */
  readonly operations?: readonly string[];
  readonly limits?: { readonly executionTime: number; readonly operations: number };
}

/** The capabilities of a caller, in the shape of A2E's `GET /api/v1/capabilities`. */
export function capabilitiesOf(principal: Principal, options: CapabilitiesOptions): Capabilities {
  const { permissions } = principal;
  const { apis, bases, credentials, operations = OPERATION_NAMES, limits = DEFAULT_LIMITS } = options;
  const usable = apis
    .list()
    .filter(({ id }) => allows(permissions.apis, id))
    .map(({ id, base_url, description, endpoints }) => {
      return { id, base_url, description, endpoints: endpoints.map((endpoint): Json => ({ ...endpoint })) };
    });
  return {
    agent_id: principal.id,
    capabilities: {
      // The spec has a list; some clients look APIs up by the id that permissions name.
      availableApis: usable,
      apis: Object.fromEntries(usable.map(({ id, ...api }) => [id, api])),
      availableCredentials: (credentials?.list() ?? [])
        .filter(({ id }) => allows(permissions.credentials, id))
        .map(
          ({ id, type, description, hosts, places = [HEADER] }): JsonObject => ({
            id,
            type,
            description,
            hosts: [...hosts],
            // The spec has headers only; a caller that may use another place needs its name.
            ...(places.some((place) => place !== HEADER) && { places: [...places] }),
            usage: { credentialRef: { id } },
          }),
        ),
      supportedOperations: operations.filter((name) => allows(permissions.operations, name)),
      knowledgeBases: bases.listFor(principal).map(({ id, description = null, documents }) => ({
        id,
        description,
        documents: documents.length,
      })),
      securityConstraints: { maxExecutionTime: limits.executionTime, maxOperations: limits.operations },
    },
  };
}

const HEADER = 'header';
