import {
  type Clock,
  type Limiter,
  type Principal,
  SlidingWindows,
  type Window,
  type WindowState,
} from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { countRequest } from './count-request.ts';
import { addressGroup } from './edges/address.ts';
import type { Counted, CountedCall } from './edges/exchange.ts';
import { tightestFirst } from './edges/limit-state.ts';

export interface MailboxLimitsOptions {
  readonly clock: Clock;
  /** What counts for everything an agent does, by whichever door. */
  readonly limiter: Limiter;
  readonly perMinute: number;
  readonly maxConcurrent: number;
}

/**
 * How often somebody may write (A2A mailbox, Rate Limits: "30/minute per IP", under "per agent"): so many for each address,
 * so many for each agent with a key, and so many at the same time. Without a key the address is all there is to go by.
 */
export class MailboxLimits {
  readonly #options: MailboxLimitsOptions;
  readonly #windows: SlidingWindows;
  readonly #open = new Map<string, number>();
  readonly #perAddress: readonly Window[];
  readonly #perAgent: readonly Window[];
  #counted = 0;

  constructor(options: MailboxLimitsOptions) {
    this.#options = options;
    this.#windows = new SlidingWindows({ clock: options.clock });
    const window = { limit: options.perMinute, seconds: MINUTE };
    this.#perAddress = [{ name: 'mailbox_address', ...window }];
    this.#perAgent = [{ name: 'mailbox_agent', ...window }];
  }

  count({ principal, address }: CountedCall): Counted {
    if (++this.#counted % PRUNE_EVERY === 0) this.#windows.prune(2 * MINUTE);
    const states: WindowState[] = [];
    const group = addressGroup(address);
    const refused =
      this.#take('address', this.#perAddress, group, states) ??
      (principal === undefined ? undefined : this.#take('agent', this.#perAgent, principal.id, states)) ??
      (principal === undefined ? undefined : this.#everywhere(principal, states));
    const limits = tightestFirst(states);
    if (refused !== undefined) return { limits, failure: refused };
    const name = principal === undefined ? `address ${group}` : principal.id;
    const release = this.#enter(name);
    return release === undefined ? { limits, failure: this.#tooMany() } : { limits, release };
  }

  #take(kind: string, windows: readonly Window[], who: string, states: WindowState[]): Failure | undefined {
    const taken = this.#windows.take(who, windows);
    states.push(...taken.states);
    if (taken.allowed) return undefined;
    const { perMinute } = this.#options;
    const retryAfter = taken.states[0]?.retryAfter ?? MINUTE;
    const message = `Rate limit exceeded: ${perMinute} messages per minute for each ${kind}.`;
    return failure('rate_limited', { retry_after: retryAfter, limit: perMinute, window_seconds: MINUTE }, message);
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
const PRUNE_EVERY = 1000;
