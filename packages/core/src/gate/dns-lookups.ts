import { Resolver } from 'node:dns/promises';
import type { Clock } from '../ports/ports.ts';
import { NoAnswerYet } from './resolver.ts';

export interface DnsOptions {
  readonly clock: Clock;
  readonly withinMs: number;
  /** Default: the name servers of this machine. */
  readonly servers?: readonly string[];
}

/**
 * Asks the name servers of this machine for all addresses of a name. Unlike the system's lookup, it occupies no thread
 * while it waits, so that dead names block no other lookup. Rejects with `NoNameServer` if the machine has no name
 * server.
 *
 * Some name servers never answer for IPv6 addresses. A lookup that has IPv4 addresses waits only a moment for IPv6
 * addresses (RFC 8305 §3). Addresses that arrive later are neither checked nor used.
 */
export async function dnsResolve(name: string, { clock, withinMs, servers }: DnsOptions): Promise<readonly string[]> {
  // Each lookup has its own resolver, which can be cancelled alone and uses the machine's current name servers.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const giveUp = () => resolver.cancel();
  const cancels = [clock.after(withinMs, giveUp)];
  const four = resolver.resolve4(name);
  // IPv6 addresses do not shorten the wait for IPv4: most machines can reach IPv4 addresses, and many only those.
  four.then(() => cancels.push(clock.after(RESOLUTION_DELAY_MS, giveUp))).catch(() => {});
  const results = await Promise.allSettled([four, resolver.resolve6(name)]);
  for (const cancel of cancels) cancel();
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (answers.length > 0) return answers;
  const codes = results.map((result) => (result.status === 'rejected' ? String(result.reason.code) : 'ENODATA'));
  if (codes.every((code) => code === 'ECONNREFUSED')) throw new NoNameServer();
  if (codes.every((code) => NO_SUCH_NAME.has(code))) throw new NoSuchName(name);
  throw new NoAnswerYet(name);
}

/** This machine has no running name server. The system may still resolve names in another way. */
export class NoNameServer extends Error {}

/** With the system's code for a name that does not exist. */
class NoSuchName extends Error {
  readonly code = 'ENOTFOUND';

  constructor(name: string) {
    super(`there is no ${name}`);
  }
}

/** A name without an address counts as missing, and so does a text that is not a name. */
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
const TRY_MS = 2000;
const TRIES = 2;
/** Longer than the 50 ms for interactive use: most of these names are looked up for the first time. */
const RESOLUTION_DELAY_MS = 250;
