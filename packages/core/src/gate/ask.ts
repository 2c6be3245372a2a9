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

/** A request as it is sent, including its secrets. */
export interface Outbound {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string | Uint8Array | undefined;
}

export interface AskOptions {
  /** The most bytes of the body after inflation. */
  readonly maxBytes: number;
  readonly redactor: Redactor | undefined;
  readonly bound: Deadline;
  readonly limits: GateLimits;
  /** How long to wait for a connection; set where another address can be tried. */
  readonly patience: { readonly clock: Clock; readonly milliseconds: number } | undefined;
}

/** Sends a request over a connection of the pool. The answer is inflated, limited in size, and without secrets. */
export async function ask(
  pool: Pool,
  { method, path, headers, body }: Outbound,
  { maxBytes, redactor, bound, limits, patience }: AskOptions,
): Promise<InboundAnswer> {
  // The time limit continues for a request that was never sent, because it may be tried at another address.
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

/**
 * The head of the answer. Rejects if no connection is made in time; once the request is sent, only its whole time limit
 * applies.
 */
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

/** The headers of an answer without secrets and, if its body was encoded, without those about the encoded body. */
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
