import {
  type Clock,
  type Limiter,
  type Principal,
  SlidingWindows,
  type Taken,
  type Window,
  type WindowState,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { addressGroup } from '../edges/address.ts';
import { tightestFirst } from '../edges/limit-state.ts';
import type { Counted, CountedCall } from '../http/count.ts';
import { countRequest } from './count-request.ts';

export interface MailboxLimitsOptions {
  readonly clock: Clock;
  /** The limits for all requests of an agent, through any endpoint. */
  readonly limiter: Limiter;
  readonly perMinute: number;
  readonly maxConcurrent: number;
}

/**
 * The rate limits of senders (A2A mailbox, Rate Limits: "30/minute per IP", under "per agent"), and their limits of
 * open requests. A caller with a key has its own limits. Senders without a key share the limits of their address, and
 * do not use up those of callers with a key at the same address.
 */
export class MailboxLimits {
  readonly #options: MailboxLimitsOptions;
  /** Of senders without a key, by address: each node counts its own. */
  readonly #windows: SlidingWindows;
  readonly #open = new Map<string, number>();
  readonly #perAddress: readonly Window[];
  readonly #perAgent: readonly Window[];
  readonly #reads: readonly Window[];
  #counted = 0;

  constructor(options: MailboxLimitsOptions) {
    this.#options = options;
    this.#windows = new SlidingWindows({ clock: options.clock });
    const window = { limit: options.perMinute, seconds: MINUTE };
    this.#perAddress = [{ name: 'mailbox_address', ...window }];
    this.#perAgent = [{ name: 'mailbox_agent', ...window }];
    this.#reads = [{ name: 'mailbox_reads', limit: READS * options.maxConcurrent, seconds: MINUTE }];
  }

  /** Where several nodes count for the same callers, the result must be awaited before `count`. */
  lease({ principal }: CountedCall): Promise<void> | undefined {
    if (principal === undefined) return undefined;
    const { limiter } = this.#options;
    const here = limiter.windows.lease(principal.id, this.#perAgent);
    const everywhere = limiter.lease(principal);
    return here === undefined ? everywhere : here.then(() => everywhere);
  }

  count({ principal, address }: CountedCall): Counted {
    this.#prune();
    const states: WindowState[] = [];
    const group = addressGroup(address);
    const refused =
      principal === undefined
        ? this.#refusal('messages per minute for each address', this.#windows.take(group, this.#perAddress), states)
        : (this.#refusal(
            'messages per minute for each agent',
            this.#options.limiter.windows.take(principal.id, this.#perAgent),
            states,
          ) ?? this.#everywhere(principal, states));
    const limits = tightestFirst(states);
    if (refused !== undefined) return { limits, failure: refused };
    const name = principal === undefined ? `address ${group}` : principal.id;
    const release = this.#enter(name);
    return release === undefined ? { limits, failure: this.#tooMany() } : { limits, release };
  }

  /**
   * Limits how often senders without a key may poll for answers: twice a second for each request they may have open.
   * A caller with a key resumes its own answers, and that does not count.
   */
  countRead({ principal, address }: CountedCall): Counted {
    if (principal !== undefined) return { limits: [] };
    this.#prune();
    const states: WindowState[] = [];
    const taken = this.#windows.take(addressGroup(address), this.#reads);
    const refused = this.#refusal('answers read per minute and address', taken, states);
    return { limits: tightestFirst(states), ...(refused !== undefined && { failure: refused }) };
  }

  #prune(): void {
    if (++this.#counted % PRUNE_EVERY === 0) this.#windows.prune(2 * MINUTE);
  }

  #refusal(what: string, taken: Taken, states: WindowState[]): Failure | undefined {
    states.push(...taken.states);
    if (taken.allowed) return undefined;
    const limit = taken.states[0]?.window.limit ?? 0;
    const retryAfter = taken.states[0]?.retryAfter ?? MINUTE;
    const message = `Rate limit exceeded: ${limit} ${what}.`;
    return failure('rate_limited', { retry_after: retryAfter, limit, window_seconds: MINUTE }, message);
  }

  #everywhere(principal: Principal, states: WindowState[]): Failure | undefined {
    const counted = countRequest(this.#options.limiter, principal);
    states.push(...counted.states);
    return counted.refused;
  }

  #enter(name: string): (() => void) | undefined {
    const open = this.#open.get(name) ?? 0;
    if (open >= this.#options.maxConcurrent) return undefined;
    this.#open.set(name, open + 1);
    return () => {
      const left = (this.#open.get(name) ?? 1) - 1;
      if (left > 0) this.#open.set(name, left);
      else this.#open.delete(name);
    };
  }

  #tooMany(): Failure {
    const { maxConcurrent } = this.#options;
    return failure(
      'rate_limited',
      { retry_after: 1 },
      `Too many requests at the same time: ${maxConcurrent} are served.`,
    );
  }
}

const MINUTE = 60;
/** Per minute, for each request that an address may have open: polling once a second must stay well below it. */
const READS = 120;
const PRUNE_EVERY = 1000;
