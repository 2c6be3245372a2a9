import type { Dispatcher, Pool } from 'undici';
import type { Clock } from '../ports/ports.ts';
import { Refused } from '../refusals/refused.ts';
import type { Deadline } from './deadline.ts';
import { type Head, OutboundExchange } from './exchange.ts';
import type { InboundAnswer } from './gate.ts';
import { unreachableHost } from './gate-failure.ts';
import { inflated, type Unpacking } from './inflate.ts';
import type { GateLimits } from './limits.ts';
import type { Redactor } from './redactor.ts';

/** A request as it goes over the connection, secrets and all. */
export interface Outbound {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string | Uint8Array | undefined;
}

export interface AskOptions {
  /** After inflation. */
  readonly maxBytes: number;
  readonly redactor: Redactor | undefined;
  readonly bound: Deadline;
  readonly limits: GateLimits;
  /** How long to wait for a connection, where there is another address to go to. */
  readonly patience: { readonly clock: Clock; readonly milliseconds: number } | undefined;
}

/** Sends it over one of the connections and returns the answer that the caller may see. */
export async function ask(
  pool: Pool,
  { method, path, headers, body }: Outbound,
  { maxBytes, redactor, bound, limits, patience }: AskOptions,
): Promise<InboundAnswer> {
  // One that was never sent may be tried at another address, in what is left of the time.
  const exchange: OutboundExchange = new OutboundExchange({
    onOver: () => exchange.sent && bound.release(),
    announcements: limits.announcements,
  });
  bound.attach(exchange);
  pool.dispatch({ method, path, headers, body: body ?? null }, exchange);
  const head = await (patience === undefined ? exchange.head : headInTime(exchange, patience));
  const coding = codingOf(head);
  if (coding === undefined && redactor === undefined) return new PlainAnswer(head, exchange, { maxBytes, limits });
  const bytes = inflated(exchange.body(), coding, { maxBytes, limits });
  return {
    status: head.status,
    headers: shownHeaders(head, redactor),
    body: redactor === undefined ? bytes : redactor.body(bytes),
    end: () => exchange.leave(),
  };
}

/** The head of the answer, unless no connection is made in time. Once something was sent, the time of the whole exchange applies. */
async function headInTime(
  exchange: OutboundExchange,
  { clock, milliseconds }: NonNullable<AskOptions['patience']>,
): Promise<Head> {
  const cancel = clock.after(milliseconds, () => {
    if (!exchange.sent) exchange.fail(new Refused(unreachableHost('it did not answer in time')));
  });
  try {
    return await exchange.head;
  } finally {
    cancel();
  }
}

/** An answer that is passed on unchanged. */
class PlainAnswer implements InboundAnswer {
  readonly status: number;
  readonly headers: InboundAnswer['headers'];
  readonly #exchange: OutboundExchange;
  readonly #unpacking: Unpacking;

  constructor({ status, headers }: Head, exchange: OutboundExchange, unpacking: Unpacking) {
    this.status = status;
    this.headers = headers;
    this.#exchange = exchange;
    this.#unpacking = unpacking;
  }

  get body(): InboundAnswer['body'] {
    return inflated(this.#exchange.body(), undefined, this.#unpacking);
  }

  get isOver(): boolean {
    return this.#exchange.isOver;
  }

  end(): void {
    this.#exchange.leave();
  }

  whole(): Promise<Uint8Array> {
    return this.#exchange.whole(this.#unpacking.maxBytes);
  }
}

function codingOf({ headers }: Head): string | undefined {
  const coding: string | readonly string[] | undefined = headers['content-encoding'];
  return Array.isArray(coding) ? coding.join(', ') : coding;
}

/** Without what was true only of the bytes on their way. */
function shownHeaders({ headers }: Head, redactor: Redactor | undefined): InboundAnswer['headers'] {
  const isCoded = headers['content-encoding'] !== undefined;
  const shown: [string, string | readonly string[]][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || (isCoded && OF_THE_CODING.has(name))) continue;
    if (redactor === undefined) shown.push([name, value]);
    else shown.push([redactor.text(name), Array.isArray(value) ? value.map(redactor.text) : redactor.text(value)]);
  }
  return Object.fromEntries(shown);
}

const OF_THE_CODING: ReadonlySet<string> = new Set(['content-encoding', 'content-length']);
