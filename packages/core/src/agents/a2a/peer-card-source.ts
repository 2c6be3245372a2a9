import { failure } from '@dragoman/protocols';
import type { A2aVersion } from '@dragoman/protocols/lf-a2a';
import type { OutboundHeader } from '../../gate/gate.ts';
import { headerOf } from '../../gate/header-of.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import { wholeBody } from '../../gate/whole-body.ts';
import type { Pins } from '../../pins/pins.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import { Refused } from '../../refusals/refused.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { decodePeerCard, type PeerCard } from './peer-card.ts';

export interface PeerCardSourceOptions {
  /** The agent that the card describes. */
  readonly agentId: string;
  /** The URLs at which the card may be, most likely first. */
  readonly urls: readonly string[];
  /** The version of A2A to use. Default: any. */
  readonly version?: A2aVersion | undefined;
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  readonly gate: NetworkGate;
  readonly reader: JsonReader;
  readonly clock: Clock;
  readonly log: Log;
  /** Without pins, a changed card is used at once. */
  readonly pins?: Pick<Pins, 'admit' | 'isHeld'> | undefined;
  /** What an operator does to accept a changed card. */
  readonly howToAccept: string;
}

/**
 * The card of a remote agent. It is cached, and requested again with its ETag when it expires; while that fails, the cached card is
 * used. A card that has changed since it was first seen is held until the operator accepts it.
 */
export class PeerCardSource {
  readonly #options: PeerCardSourceOptions;
  #known: KnownCard | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: PeerCardSourceOptions) {
    this.#options = options;
  }

  /** The card to use now. Throws `Refused` where there is no card, or it is held. */
  async get(): Promise<PeerCard> {
    const { clock } = this.#options;
    if (this.#known === undefined || clock.elapsed() >= this.#known.until) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    const { card } = this.#known as KnownCard;
    await this.#admit(card);
    return card;
  }

  async #admit(card: PeerCard): Promise<void> {
    const { pins, agentId, log, howToAccept } = this.#options;
    if (pins === undefined) return;
    const name = cardPin(agentId, this.#options.urls[0] ?? '');
    const wasHeld = pins.isHeld(name);
    if (await pins.admit(name, card)) return;
    if (!wasHeld)
      log.warn(
        { agent: agentId, fix: howToAccept },
        'the card of an agent has changed: the agent is blocked until an operator accepts the new card',
      );
    const message = `The card of the agent ${agentId} has changed since it was last accepted. The agent is blocked until an operator accepts the new card.`;
    const suggestions = [`review the new card, then accept it: ${howToAccept}`];
    throw new Refused({ ...failure('agent_failed', { suggestions }, message), retryable: false });
  }

  async #read(): Promise<void> {
    const { urls, clock, log, agentId } = this.#options;
    let first: unknown;
    for (const url of this.#known === undefined ? urls : [this.#known.url]) {
      try {
        this.#known = await this.#readAt(url);
        return;
      } catch (error) {
        first ??= error;
      }
    }
    if (this.#known === undefined) throw first;
    // The next try is soon; until then the old card is used.
    log.warn({ agent: agentId, error: String(first) }, 'the card of an agent cannot be read again');
    this.#known = { ...this.#known, until: clock.elapsed() + RETRY_MS };
  }

  async #readAt(url: string): Promise<KnownCard> {
    const { agentId, gate, reader, clock, headers, version } = this.#options;
    const etag = this.#known?.etag;
    const answer = await gate.request({
      caller: `agent:${agentId}`,
      purpose: `card of ${agentId}`,
      method: 'GET',
      url,
      allowList: 'allow',
      headers: {
        accept: 'application/json',
        ...(version !== '0.3' && { 'a2a-version': '1.0' }),
        ...(etag !== undefined && { 'if-none-match': etag }),
        ...headers,
      },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    });
    const until = clock.elapsed() + freshMs(headerOf(answer, 'cache-control'));
    if (answer.status === 304 && this.#known !== undefined) {
      answer.end?.();
      return { ...this.#known, until };
    }
    if (answer.status !== 200) {
      answer.end?.();
      throw noCard(url, `it answered with HTTP status ${answer.status}`, answer.status);
    }
    const json = await reader.read(await wholeBody(answer), {
      caller: `agent ${agentId}`,
      waits: true,
      limits: { numbers: 'finite' },
    });
    const outcome = json.ok ? decodePeerCard(json.value, url, version) : json;
    if (!outcome.ok) throw noCard(url, outcome.issues[0]?.message ?? 'it is not JSON');
    return { card: outcome.value, url, until, etag: headerOf(answer, 'etag') };
  }
}

interface KnownCard {
  readonly card: PeerCard;
  readonly url: string;
  /** When the card expires. */
  readonly until: number;
  readonly etag: string | undefined;
}

/** The name of the pin for an agent's card. A card at another URL has another pin. */
function cardPin(agentId: string, url: string): string {
  return `card:${agentId} ${url}`;
}

/** The agent whose card this pin is for; `undefined` for any other pin. */
export function agentOfPin(name: string): string | undefined {
  return /^card:(\S+) /.exec(name)?.[1];
}

/** The URLs at which the card of an agent may be: below its URL, at the older name, and at the root of its host. */
export function cardUrls(url: URL): string[] {
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return [...new Set([`${base}${WELL_KNOWN}`, `${base}${OLD_WELL_KNOWN}`, `${url.origin}${WELL_KNOWN}`])];
}

function noCard(url: string, why: string, status?: number): Refused {
  const where = new URL(url);
  const message = `The agent has no card that can be used at ${where.origin}${where.pathname}: ${why}.`;
  const details = { ...(status !== undefined && { status }) };
  return new Refused({
    ...failure('agent_failed', details, message),
    retryable: status !== undefined && status >= 500,
  });
}

function freshMs(cacheControl: string | undefined): number {
  const [, seconds] = /max-age=(\d{1,9})/.exec(cacheControl ?? '') ?? [];
  const milliseconds = seconds === undefined ? USUAL_FRESH_MS : Number(seconds) * 1000;
  return Math.min(Math.max(milliseconds, LEAST_FRESH_MS), MOST_FRESH_MS);
}

const WELL_KNOWN = '/.well-known/agent-card.json';
const OLD_WELL_KNOWN = '/.well-known/agent.json';
const LEAST_FRESH_MS = 60_000;
const USUAL_FRESH_MS = 300_000;
const MOST_FRESH_MS = 3_600_000;
const RETRY_MS = 30_000;
const TIMEOUT_MS = 15_000;
const MOST_BYTES = 1024 * 1024;
