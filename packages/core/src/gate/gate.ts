import type { Failure } from '@dragoman/protocols';
import type { StopSignal } from '../ending/ending.ts';
import type { CredentialUse } from '../secrets/credential-use.ts';
import type { SecretText } from './secret-text.ts';

/**
 * The only way out to the network. Every host is judged after resolution, redirects are answers and never followed,
 * sizes and time are limited, and credentials are inserted at the last moment, for the hosts that they are bound to.
 *
 * Refused and failed requests reject with `Refused`; reading an incomplete body throws it. After `forbidden`,
 * `invalid_message` and `unreachable`, nothing was sent; after `timeout` and `agent_failed`, `details.sent` reports
 * whether the request was sent. A host that was not looked up, because too many others were, is `unreachable` with
 * `details.looked_up` false. An aborted signal rejects with its own reason.
 */
export interface Gate {
  request(request: OutboundRequest): Promise<InboundAnswer>;
  /**
   * Why a URL that is stored for later cannot be called, without calling it; `undefined` if it can. A temporary failure
   * to look up its name is not a reason, because the URL is judged again when it is called.
   */
  check(url: string, allowList: AllowList): Promise<Failure | undefined>;
}

/**
 * Which private or plain-http hosts a request may reach: those the operator allows for its own destinations (`gate.allow`), those it
 * allows for URLs that callers give (`gate.callbacks`), or none. There is no default: the code that sends a request knows where its
 * URL comes from, and a caller's URL must never be judged by the operator's list.
 */
export type AllowList = 'allow' | 'callbacks' | 'none';

export interface OutboundRequest {
  /** The principal on whose behalf it is sent. Connections are never shared between callers. */
  readonly caller: string;
  /** The request or operation, for the record of a credential's use. */
  readonly purpose?: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly allowList: AllowList;
  readonly query?: readonly (readonly [name: string, value: string | CredentialUse])[];
  readonly headers?: Readonly<Record<string, OutboundHeader>>;
  /** Bytes, or a JSON value that may contain a `CredentialUse` at any depth. */
  readonly body?: { readonly bytes: Uint8Array } | { readonly json: unknown } | undefined;
  /** The time limit of the whole exchange, including the body of the answer. */
  readonly timeoutMs: number;
  /** The most bytes of the answer's body after inflation. */
  readonly maxBytes: number;
  readonly signal?: StopSignal | undefined;
}

/** A text, or a secret that is inserted just before sending. */
export type OutboundHeader = string | CredentialUse | SecretText;

export interface InboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Inflated, limited in size, and with a marker instead of each secret. It is received only as fast as it is read. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body at once, for use instead of `body`. Absent where the body must be read in pieces. */
  whole?(): Promise<Uint8Array>;
  /** Ends the exchange and its connection, even while a reader waits for more. */
  end?(): void;
  /** Whether the whole body was received, so that it need not be read to free the connection. */
  readonly isOver?: boolean;
}
