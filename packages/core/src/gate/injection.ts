import { CredentialUse } from '../secrets/credential-use.ts';
import type { OutboundHeader, OutboundRequest } from './gate.ts';
import { SecretText } from './secret-text.ts';

/** The places for a secret: in a request, or in the environment of a program. */
export type SecretPlace = 'header' | 'query' | 'body' | 'env';

export interface PlacedCredential {
  readonly id: string;
  readonly place: SecretPlace;
}

/** The credentials that a request refers to, with their places. */
export function credentialsIn({
  headers,
  query,
  body,
}: Pick<OutboundRequest, 'headers' | 'query' | 'body'>): readonly PlacedCredential[] {
  const found: PlacedCredential[] = [];
  const note = (value: unknown, place: SecretPlace) => {
    if (value instanceof CredentialUse) found.push({ id: value.id, place });
  };
  if (headers !== undefined) for (const name in headers) note(headers[name], 'header');
  if (query !== undefined) for (const [, value] of query) note(value, 'query');
  if (body !== undefined && 'json' in body) forEachLeaf(body.json, (value) => note(value, 'body'));
  return found;
}

/** Returns the text of a secret for its place. */
export type Fill = (credential: PlacedCredential) => string;

/** Headers as pairs, with the secrets in them. */
export function filledHeaders({ headers = {} }: Pick<OutboundRequest, 'headers'>, fill: Fill): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, filled(value, 'header', fill)]);
}

/** Path and query, with the secrets in them. The query of the URL itself comes first. */
export function filledPath(url: URL, { query = [] }: OutboundRequest, fill: Fill): string {
  if (query.length === 0) return `${url.pathname}${url.search}`;
  const pairs = query.map(([name, value]) => `${encode(name)}=${encode(filled(value, 'query', fill))}`);
  return `${url.pathname}${url.search === '' ? '?' : `${url.search}&`}${pairs.join('&')}`;
}

/** The body, with the secrets in it. The given value is not changed. */
export function filledBody({ body }: OutboundRequest, fill: Fill, isFilled: boolean): string | Uint8Array | undefined {
  if (body === undefined) return undefined;
  if ('bytes' in body) return body.bytes;
  if (!isFilled) return JSON.stringify(body.json);
  return JSON.stringify(body.json, (_, value: unknown) =>
    value instanceof CredentialUse ? fill({ id: value.id, place: 'body' }) : value,
  );
}

function filled(value: OutboundHeader, place: SecretPlace, fill: Fill): string {
  if (value instanceof SecretText) return value.reveal();
  return value instanceof CredentialUse ? fill({ id: value.id, place }) : value;
}

function encode(text: string): string {
  // A lone surrogate cannot be encoded; it goes out as the replacement character, as in every URL.
  return encodeURIComponent(Buffer.from(text).toString());
}

function forEachLeaf(value: unknown, note: (value: unknown) => void): void {
  if (typeof value !== 'object' || value === null || value instanceof CredentialUse) note(value);
  else for (const member of Object.values(value)) forEachLeaf(member, note);
}
