import { accept, type Issue, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { decodeHostPort, nameOfHostPort } from '../gate/host-port.ts';
import type { SecretPlace } from '../gate/injection.ts';
import { CredentialDefinition as validate } from '../generated/vault.js';
import { CredentialBody, CredentialIdShape } from './definition.ts';

/** A credential to put into the vault. Hosts are normalized and defaults filled in. */
export interface NewCredential {
  readonly id: string;
  readonly type: CredentialBody['type'];
  readonly value: string;
  readonly hosts: readonly string[];
  readonly places: readonly SecretPlace[];
  readonly description: string | null;
}

/** Decodes the body of `PUT /admin/v1/credentials/{id}`. No issue shows the value of the secret. */
export function decodeCredential(id: string, json: Json): Outcome<NewCredential> {
  const issues: Issue[] = [...idIssues(id), ...issuesOf(validate, CredentialBody, json).map(withoutValue)];
  if (issues.length > 0) return reject(...issues);
  const { type, value, hosts = [], places = ['header'], description = null } = json as CredentialBody;
  const read = hosts.map((host, index) => decodeHostPort(host, `/hosts/${index}`));
  const named = read.flatMap((host) => (host.ok ? nameOfHostPort(host.value) : []));
  issues.push(
    ...read.flatMap((host) => (host.ok ? [] : host.issues)),
    ...hostIssues(hosts, places),
    ...valueIssues(type, value, places),
  );
  if (issues.length > 0) return reject(...issues);
  return accept({ id, type, value, hosts: [...new Set(named)], places: [...new Set(places)], description });
}

function idIssues(id: string): Issue[] {
  if (id.length <= CredentialIdShape.maxLength && new RegExp(CredentialIdShape.pattern).test(id)) return [];
  const message = 'the id must be 1 to 128 letters, digits, dots, hyphens and underscores, a letter or digit first';
  return [{ pointer: '/id', code: 'pattern', message, suggestion: 'choose another id' }];
}

function hostIssues(hosts: readonly string[], places: readonly SecretPlace[]): Issue[] {
  if (hosts.length > 0 || places.every((place) => place === 'env')) return [];
  const message = 'hosts must name at least one host that the secret may be sent to';
  return [{ pointer: '/hosts', code: 'required', message, suggestion: 'such as "hosts": ["api.example.com"]' }];
}

function valueIssues(type: string, value: string, places: readonly SecretPlace[]): Issue[] {
  const bytes = Buffer.byteLength(value);
  if (type !== 'username' && bytes < MIN_SECRET_BYTES) {
    // A shorter secret occurs in too many texts by chance, so it could not be removed from answers.
    const message = `value must have at least ${MIN_SECRET_BYTES} bytes; got ${bytes}`;
    return [{ pointer: '/value', code: 'too_short', message }];
  }
  if (places.includes('header') && !HEADER_VALUE.test(value)) {
    const message = 'value must be visible characters on one line, without spaces at its ends, to stand in a header';
    return [{ pointer: '/value', code: 'header_value', message, suggestion: 'look for a line break at its end' }];
  }
  return [];
}

/** Replaces the message of an issue about the value, because it may quote the value. */
function withoutValue(issue: Issue): Issue {
  return issue.pointer === '/value' ? { pointer: issue.pointer, code: issue.code, message: VALUE_RULE } : issue;
}

export const MIN_SECRET_BYTES = 4;
const HEADER_VALUE = /^[\x21-\x7e\xa1-\xff](?:[\x20-\x7e\xa1-\xff]*[\x21-\x7e\xa1-\xff])?$/;
const VALUE_RULE = 'value must be a string of 1 to 8192 characters';
