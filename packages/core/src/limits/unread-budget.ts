import type { Principal } from '../call/principal.ts';
import type { Clock, Log } from '../ports/ports.ts';

export interface UnreadBudgetOptions {
  /** The most unread bytes of all connections together. */
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Limits the bytes that were sent to peers but not read by them. Beyond the budget, the caller with the most unread
 * bytes loses the connection that has not read for the longest time. No data is lost: answers are in the journal and
 * can be resumed.
 */
export class UnreadBudget {
  /** Connections dropped since the start. */
  drops = 0;
  readonly #options: UnreadBudgetOptions;
  readonly #holders = new Map<string, Holder>();
  #bytes = 0;
  #loggedAt: number | undefined;

  constructor(options: UnreadBudgetOptions) {
    this.#options = options;
  }

  /** An account for one connection; `drop` disconnects it. */
  open({ principal, address, drop }: UnreadConnection): UnreadAccount {
    const name = principal === undefined ? `address ${address}` : `caller ${principal.id}`;
    let bytes = 0;
    const give = (count: number) => {
      const holder = this.#holders.get(name);
      bytes -= count;
      this.#bytes -= count;
      if (holder === undefined) return;
      holder.bytes -= count;
      // The account moves behind those that have not read since.
      holder.accounts.delete(account);
      if (bytes > 0) holder.accounts.add(account);
      if (holder.accounts.size === 0) this.#holders.delete(name);
    };
    const account: Account = {
      sent: (count) => {
        const holder = this.#holders.get(name) ?? { name, bytes: 0, accounts: new Set() };
        this.#holders.set(name, holder);
        holder.accounts.add(account);
        holder.bytes += count;
        bytes += count;
        this.#bytes += count;
        if (this.#bytes > this.#options.maxBytes) this.#makeRoom(account);
      },
      // A dropped connection has released everything already.
      read: (count) => give(Math.min(count, bytes)),
      close: () => give(bytes),
      drop,
    };
    return account;
  }

  /** The connection that sends now is spared, so that one answer larger than the budget can be delivered. */
  #makeRoom(sending: Account): void {
    while (this.#bytes > this.#options.maxBytes) {
      const most = [...this.#holders.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a));
      const [first, second] = most.accounts;
      const victim = first === sending ? second : first;
      if (victim === undefined) return;
      victim.close();
      this.#count(most);
      victim.drop();
    }
  }

  /** Counts a dropped connection, and logs at most one line a second. */
  #count({ name }: Holder): void {
    const { clock, log, maxBytes } = this.#options;
    this.drops += 1;
    if (this.#loggedAt !== undefined && clock.elapsed() - this.#loggedAt < 1_000) return;
    this.#loggedAt = clock.elapsed();
    const fields = { holder: name, drops: this.drops, max_bytes: maxBytes };
    log.warn(fields, 'disconnected a peer that does not read: limits.unread_bytes is used up');
  }
}

export interface UnreadConnection {
  readonly principal: Principal | undefined;
  readonly address: string;
  readonly drop: () => void;
}

/** The share of one connection in the budget. */
export interface UnreadAccount {
  sent(bytes: number): void;
  read(bytes: number): void;
  /** Call it when the connection is over. */
  close(): void;
}

interface Account extends UnreadAccount {
  readonly drop: () => void;
}

/** A caller, or an address whose peers have not proven who they are. */
interface Holder {
  readonly name: string;
  bytes: number;
  /** The connections with unread bytes; the one that has not read for the longest time comes first. */
  readonly accounts: Set<Account>;
}
