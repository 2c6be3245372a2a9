import type { Failure } from '@dragoman/protocols';
import type { StopSignal } from '../ending/ending.ts';
import type { CredentialUse } from '../secrets/credential-use.ts';
import type { SecretText } from './secret-text.ts';

/**
 * The only way out to the network. Every host is judged after resolution, redirects are answers and never followed, sizes
 * and time are bounded, and credentials are put in at the last moment, for the hosts they are bound to.
 * Refused and failed requests reject with `Refused`, and an incomplete body throws it: `forbidden` and `invalid_message`
 * were never sent, `unreachable` neither; whether `timeout` and `agent_failed` were, their `details.sent` says. A host that was not
 * even looked up, because too many others were, is `unreachable` with `details.looked_up` false. An aborted signal rejects with
 * its own reason.
 */
export interface Gate {
  request(request: OutboundRequest): Promise<InboundAnswer>;
  /**
   * Why a URL cannot be called, without calling it: for addresses that are kept for later. That its name cannot be looked up at
   * this moment is not a reason, since it is judged again when it is called.
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
  /** On whose behalf: connections are never shared between callers. */
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
  /** For the whole exchange, the body included. */
  readonly timeoutMs: number;
  /** After inflation. */
  readonly maxBytes: number;
  readonly signal?: StopSignal | undefined;
}

/** A text, or a secret that is inserted just before sending. */
export type OutboundHeader = string | CredentialUse | SecretText;

export interface InboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Inflated, bounded, and with every secret that was sent replaced by a marker. Pulled: nothing is read ahead of the reader. */
  readonly body: AsyncIterable<Uint8Array>;
  /** All of the body, where that is to be had for less than its pieces. In place of reading `body`. */
  whole?(): Promise<Uint8Array>;
  /** Ends it and its connection, even while a reader waits for more. */
  end?(): void;
  /** Whether all of it was received, so that it need not be read to free the connection. */
  readonly isOver?: boolean;
}
