import type { Http } from './http.ts';

/** A callback, and what became of it. */
export interface Delivery {
  readonly id: string;
  /** On whose behalf it is sent. */
  readonly agent_id: string;
  /** The message it answers. */
  readonly request_id: string;
  /** Its own, the same at every attempt. */
  readonly message_id: string;
  readonly url: string;
  /** `dead` is one that was given up. */
  readonly state: 'due' | 'delivered' | 'dead';
  /** 0 goes first, 2 last. */
  readonly priority: number;
  readonly attempts: number;
  readonly created_at: string;
  /** When it is tried next; null when it is not. */
  readonly next_at: string | null;
  readonly expires_at: string | null;
  readonly ended_at: string | null;
  /** Why each attempt failed, oldest first. */
  readonly failures: readonly { readonly at: string; readonly reason: string; readonly status?: number }[];
}

/** One that is tried again. */
export interface RetriedDelivery extends Delivery {
  /** Its URL had answered 410, and may be called again with that. */
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
  /** On all pages. */
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

  /** Newest first. */
  list(query: DeliveryQuery = {}): Promise<DeliveryPage> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
    return this.#http.json({ path: `${OUTBOX}?${parameters}`, gives: { deliveries: 'array', total: 'number' } });
  }

  /**
   * Tries a dead one again, now, with the same id and body; a URL that answered 410 is enabled by it, even if the callback
   * has expired and is not sent.
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

  /** Retries every dead callback to a host. `complete`: whether all dead ones were checked. */
  retryHost(host: string): Promise<{ host: string; retried: number; complete: boolean }> {
    const path = `admin/v1/outbox-hosts/${encodeURIComponent(host)}/retry`;
    return this.#http.json({ method: 'POST', path, gives: { retried: 'number' } });
  }
}

/** A callback with what is sent. */
export interface DeliveryDetail extends Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const OUTBOX = 'admin/v1/outbox';
