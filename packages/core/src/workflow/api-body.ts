import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { hasTemplate, isPathReference } from '@dragoman/protocols/a2e-workflow';
import { CredentialUse } from '../secrets/credential-use.ts';
import type { ApiRequest } from './effects.ts';
import type { Compiling, StepContext } from './operation.ts';
import { compileTemplate } from './template.ts';

export interface ApiBody {
  build(step: StepContext): ApiRequest['body'];
  /** The headers that the body needs, unless the operation sets them itself. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The ids of the credentials in the body. */
  readonly credentials: readonly string[];
}

/**
 * Compiles the body of a request: a text is sent unchanged, everything else as JSON. `{path}` and templates are filled
 * in at every depth, `{credentialRef}` only as a member of the body.
 */
export function compileBody(body: Json | undefined, headers: object, compiling: Compiling): ApiBody {
  if (body === undefined) return { build: () => undefined, headers: [], credentials: [] };
  const credentials: string[] = [];
  const fill = compileValue(body, 0, compiling, credentials);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  const named = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return {
    build(step) {
      const value = fill(step);
      if (credentials.length > 0) return { json: value };
      return { bytes: new TextEncoder().encode(typeof body === 'string' ? String(value) : JSON.stringify(value)) };
    },
    headers: named ? [] : [['Content-Type', type]],
    credentials,
  };
}

type Filled = (step: StepContext) => unknown;

function compileValue(value: Json, depth: number, compiling: Compiling, credentials: string[]): Filled {
  if (typeof value === 'string') return hasTemplate(value) ? compileTemplate(value) : () => value;
  if (typeof value !== 'object' || value === null) return () => value;
  if (isPathReference(value)) {
    const path = compiling.path(value.path);
    return (step) => step.read(path);
  }
  if (depth === 1 && isObject(value) && Object.hasOwn(value, 'credentialRef')) {
    const use = new CredentialUse(credentialId(value));
    credentials.push(use.id);
    return () => use;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => compileValue(item, depth + 1, compiling, credentials));
    return (step) => items.map((fill) => fill(step));
  }
  const members = Object.entries(value).map(
    ([name, item]) => [name, compileValue(item, depth + 1, compiling, credentials)] as const,
  );
  return (step) => Object.fromEntries(members.map(([name, fill]) => [name, fill(step)]));
}

function credentialId({ credentialRef }: JsonObject): string {
  return isObject(credentialRef) ? String(credentialRef['id']) : '';
}

/** Whether a body has `{path}` below its members, which an earlier engine sent literally. */
export function hasDeepReference(body: Json | undefined, depth = 0): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if (isPathReference(body)) return depth > 1;
  return Object.values(body).some((item) => hasDeepReference(item as Json, depth + 1));
}
