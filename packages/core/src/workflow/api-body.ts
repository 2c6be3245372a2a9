import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { hasTemplate, isPathReference } from '@dragoman/protocols/a2e-workflow';
import { CredentialUse } from '../gate/gate.ts';
import type { ApiRequest } from './effects.ts';
import type { Compiling, StepContext } from './operation.ts';
import { compileTemplate } from './template.ts';

export interface Body {
  build(step: StepContext): ApiRequest['body'];
  /** What goes with it, unless the configuration says otherwise. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The secrets that go into it. */
  readonly credentials: readonly string[];
}

/**
 * The body of a request: a text as it is, everything else as JSON. `{path}` counts as the body or as one of its members,
 * `{credentialRef}` as a member, templates in every text; deeper, references are the peer's own data.
 */
export function compileBody(body: Json | undefined, headers: object, compiling: Compiling): Body {
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
  if (depth <= 1 && isPathReference(value)) {
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
