import { CredentialBody, decodeCredential, type ReceiptRow, type Vault, type VaultCredential } from '@dragoman/core';
import { type Failure, failure, type Json, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';

/** Administration of the vault. No answer contains a secret. */
export function adminCredentialRoutes(vault: Vault): Route[] {
  const admin = { access: 'admin', counts: false } as const;
  return [
    {
      ...admin,
      method: 'GET',
      path: '/admin/v1/credentials',
      summary: 'List all credentials, without secrets.',
      handle: () => ({ status: 200, json: { credentials: vault.list().map(credentialJson) } }),
    },
    {
      ...admin,
      method: 'PUT',
      path: '/admin/v1/credentials/:credential_id',
      summary: 'Create or replace a credential. Its value is never returned.',
      body: { contentTypes: ['application/json'], maxBytes: 64 * 1024, schema: CredentialBody },
      handle: (request) => putCredential(request, vault),
    },
    {
      ...admin,
      method: 'GET',
      path: '/admin/v1/credentials/:credential_id',
      summary: 'Read a credential without its secret, and its latest uses.',
      handle: async ({ params }) => {
        const credential = vault.find(params['credential_id'] ?? '');
        if (credential === undefined) return noCredential();
        const uses = await vault.receipts(credential.id, SHOWN_USES);
        return { status: 200, json: { ...credentialJson(credential), uses: uses.map(receiptJson) } };
      },
    },
    {
      ...admin,
      method: 'DELETE',
      path: '/admin/v1/credentials/:credential_id',
      summary: 'Remove a credential.',
      handle: async ({ params }) => {
        const id = params['credential_id'] ?? '';
        return (await vault.remove(id)) ? { status: 200, json: { id, removed: true } } : noCredential();
      },
    },
    {
      ...admin,
      method: 'POST',
      path: '/admin/v1/vault/rotate',
      summary: 'Seal every credential with a new key.',
      body: { contentTypes: ['application/json'], maxBytes: 16 * 1024, schema: ROTATION },
      handle: (request) => rotate(request, vault),
    },
  ];
}

async function putCredential(request: InboundRequest, vault: Vault): Promise<Answer | Failure> {
  const json = await request.readJson();
  if (!json.ok)
    return failure('not_json', {
      issues: json.issues.map(({ pointer, code }) => ({ pointer, code, message: NOT_SHOWN })),
    });
  const id = request.params['credential_id'] ?? '';
  const outcome = decodeCredential(id, json.value);
  if (!outcome.ok) return failure('invalid_message', { issues: outcome.issues });
  const isNew = vault.find(id) === undefined;
  return { status: isNew ? 201 : 200, json: credentialJson(await vault.put(outcome.value)) };
}

async function rotate(request: InboundRequest, vault: Vault): Promise<Answer | Failure> {
  const json = request.body.length === 0 ? undefined : await request.readJson();
  if (json?.ok === false) return failure('not_json', {}, NOT_SHOWN);
  const key = keyIn(json?.value);
  if (key === null) return failure('invalid_message', {}, 'The body must be {} or {"key": TEXT}.');
  return (await vault.rotate(key)) ?? { status: 200, json: { rotated: true } };
}

/** `undefined` without a value, `null` for an invalid one. */
function keyIn(json: Json | undefined): string | undefined | null {
  if (json === undefined) return undefined;
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const { key, ...rest } = json;
  if (Object.keys(rest).length > 0) return null;
  return key === undefined || typeof key === 'string' ? key : null;
}

function credentialJson({ createdAt, updatedAt, damaged, ...rest }: VaultCredential): JsonObject {
  return {
    ...rest,
    hosts: [...rest.hosts],
    places: [...rest.places],
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    ...(damaged && { damaged }),
  };
}

function receiptJson({ at, caller, version, host, purpose, outcome }: ReceiptRow): JsonObject {
  return { at: new Date(at).toISOString(), caller, version, host, purpose, outcome };
}

function noCredential(): Failure {
  return failure('not_found', {}, 'Credential not found.');
}

const SHOWN_USES = 20;
/** A fixed text, because the part of the body that an error would quote may be a secret. */
const NOT_SHOWN = 'The body is not JSON.';

const ROTATION = {
  type: 'object',
  properties: { key: { type: 'string', description: 'The new key, where the old one is in the environment.' } },
  additionalProperties: false,
} as const;
