import type { Http } from './http.ts';

/** A callback and its state. */
export interface Delivery {
  readonly id: string;
  /** The agent on whose behalf it is sent. */
  readonly agent_id: string;
  /** The id of the message that it answers. */
  readonly request_id: string;
  /** The id of the callback itself, the same at every attempt. */
  readonly message_id: string;
  readonly url: string;
  /** `due`: waits for an attempt; `dead`: was given up. */
  readonly state: 'due' | 'delivered' | 'dead';
  /** From 0, sent first, to 2, sent last. */
  readonly priority: number;
  readonly attempts: number;
  readonly created_at: string;
  /** The time of the next attempt; null if there is none. */
  readonly next_at: string | null;
  readonly expires_at: string | null;
  readonly ended_at: string | null;
  /** Why each attempt failed, oldest first. */
  readonly failures: readonly { readonly at: string; readonly reason: string; readonly status?: number }[];
}

/** A callback that is retried. */
export interface RetriedDelivery extends Delivery {
  /** Whether the retry enabled its URL again, which had answered 410. */
  readonly url_enabled: boolean;
}

export interface DeliveryQuery {
  readonly state?: Delivery['state'] | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Default: 50, at most 200. */
  readonly limit?: number;
}

export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  /** The number of callbacks on all pages. */
  readonly total: number;
  /** Null on the last page. */
  readonly next_cursor: string | null;
}

/** The state of callbacks, and retries of those that were given up. */
export class OutboxAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A page of callbacks, the newest first. */
  list(query: DeliveryQuery = {}): Promise<DeliveryPage> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
    return this.#http.json({ path: `${OUTBOX}?${parameters}`, gives: { deliveries: 'array', total: 'number' } });
  }

  /**
   * Retries a dead callback at once, with the same id and body. This also enables a URL that had answered 410, even if
   * the callback has expired and is not sent.
   */
  retry(id: string): Promise<RetriedDelivery> {
    const path = `${OUTBOX}/${encodeURIComponent(id)}/retry`;
    return this.#http.json({ method: 'POST', path, gives: { id: 'string', state: 'string', url_enabled: 'boolean' } });
  }

  get(id: string): Promise<DeliveryDetail> {
    return this.#http.json({ path: `${OUTBOX}/${encodeURIComponent(id)}`, gives: { id: 'string', body: 'string' } });
  }

  /** Gives up a due callback: it is not retried automatically. */
  giveUp(id: string): Promise<Delivery> {
    const path = `${OUTBOX}/${encodeURIComponent(id)}/give-up`;
    return this.#http.json({ method: 'POST', path, gives: { id: 'string', state: 'string' } });
  }

  /** Retries every dead callback to a host. `complete` reports whether all dead callbacks were checked. */
  retryHost(host: string): Promise<{ host: string; retried: number; complete: boolean }> {
    const path = `admin/v1/outbox-hosts/${encodeURIComponent(host)}/retry`;
    return this.#http.json({ method: 'POST', path, gives: { retried: 'number' } });
  }
}

/** A callback with its headers and body. */
export interface DeliveryDetail extends Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const OUTBOX = 'admin/v1/outbox';
