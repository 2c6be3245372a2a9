import type { E2AEnvelope, Failure } from '@dragoman/protocols';
import type { A2aVersion } from '@dragoman/protocols/lf-a2a';
import type { Principal } from '../../call/principal.ts';
import type { OutboundHeader } from '../../gate/gate.ts';
import { hostPortOf, nameOfHostPort } from '../../gate/host-port.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import type { Clock } from '../../ports/ports.ts';
import { CredentialUse } from '../../secrets/credential-use.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { credentialRefs, purposeOf, refusedRef } from '../credential-refs.ts';
import type { IdleTimer } from '../idle-timer.ts';
import type { PeerInterface, PeerScheme } from './peer-card.ts';
import type { PeerCardSource } from './peer-card-source.ts';
import { PeerClient } from './peer-client.ts';

/** One way to call a remote agent. */
export interface PeerAttempt extends PeerInterface {
  readonly streaming: boolean;
  readonly outputModes: readonly string[];
  readonly schemes: readonly PeerScheme[];
}

export interface PeerWaysOptions {
  readonly agentId: string;
  /** The operator's URL: of the agent, or of its card. */
  readonly url: URL;
  /** The agent's card; absent where the configuration has everything needed. */
  readonly card: PeerCardSource | undefined;
  readonly version: A2aVersion | undefined;
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  /** The id of a vault credential, sent in the header that the agent's card names. */
  readonly credential: string | undefined;
  readonly gate: NetworkGate;
  readonly reader: JsonReader;
  readonly clock: Clock;
}

/** The ways to call a remote agent, with the headers of each. */
export class PeerWays {
  readonly #options: PeerWaysOptions;
  /** The attempt that worked last. */
  #worked: PeerAttempt | undefined;

  constructor(options: PeerWaysOptions) {
    this.#options = options;
  }

  /**
   * Every way, best first: the one that worked before, the interfaces of the card, and the same interfaces in the other
   * version, because some cards name the wrong version.
   */
  async attempts(): Promise<readonly PeerAttempt[]> {
    const { card: source, url, version } = this.#options;
    const card = await source?.get();
    const listed: readonly PeerInterface[] = card?.interfaces ?? [
      { url: url.href, binding: 'JSONRPC', version: version ?? '1.0' },
    ];
    const isListed = (one: PeerInterface) => listed.some((other) => isSameWay(one, other));
    const others = listed
      .map((one): PeerInterface => ({ ...one, version: one.version === '1.0' ? '0.3' : '1.0' }))
      .filter((one) => version === undefined && one.binding === 'JSONRPC' && !isListed(one));
    const modes = card?.streaming === false ? [false, true] : [true, false];
    const about = { outputModes: card?.outputModes ?? [], schemes: card?.schemes ?? [] };
    const all = [...listed, ...others].flatMap((one) => modes.map((streaming) => ({ ...one, streaming, ...about })));
    const worked = all.find(
      (one) => this.#worked !== undefined && isSameWay(one, this.#worked) && one.streaming === this.#worked.streaming,
    );
    return worked === undefined ? all : [worked, ...all.filter((one) => one !== worked)];
  }

  remember(attempt: PeerAttempt): void {
    this.#worked = attempt;
  }

  /** Why the caller may not use the credentials its envelope names. */
  refusal(envelope: E2AEnvelope, principal: Principal): Failure | undefined {
    const { gate, url } = this.#options;
    return refusedRef(envelope, { principal, gate, url });
  }

  client(
    attempt: PeerAttempt,
    {
      envelope,
      principal,
      signal,
      idle,
    }: { envelope: E2AEnvelope; principal: Principal; signal: AbortSignal; idle: IdleTimer },
  ): PeerClient {
    const { agentId, gate, reader, clock } = this.#options;
    return new PeerClient(attempt, {
      ...{ agentId, gate, reader, clock, signal, idle },
      caller: principal.id,
      purpose: purposeOf(envelope),
      headers: this.headersFor(attempt, envelope),
      // Any other host is the card's choice and not the operator's.
      allowList: this.#isOwnHost(attempt.url) ? 'allow' : 'callbacks',
    });
  }

  /**
   * The operator's headers and the secrets, which the vault releases only to the hosts they are bound to. Headers written as text are
   * sent only to the operator's host, because a card may name any other.
   */
  headersFor(
    { url, schemes }: Pick<PeerAttempt, 'url' | 'schemes'>,
    envelope?: E2AEnvelope,
  ): Record<string, OutboundHeader> {
    const { headers, credential } = this.#options;
    const isOwnHost = this.#isOwnHost(url);
    const refs = envelope === undefined ? undefined : credentialRefs(envelope);
    const secret = refs?.credential ?? refs?.apiKey ?? credential;
    const own = Object.entries(headers).filter(([, value]) => isOwnHost || value instanceof CredentialUse);
    return {
      ...Object.fromEntries(own),
      ...(secret !== undefined && { [secretHeader(schemes)]: new CredentialUse(secret) }),
    };
  }

  /** Whether a URL has the host of the operator's URL. */
  #isOwnHost(url: string): boolean {
    return nameOfHostPort(hostPortOf(new URL(url))) === nameOfHostPort(hostPortOf(this.#options.url));
  }
}

function isSameWay(one: PeerInterface, other: PeerInterface): boolean {
  return one.url === other.url && one.binding === other.binding && one.version === other.version;
}

/** `authorization`, or the header for an API key where the card accepts nothing but API keys in headers. */
function secretHeader(schemes: readonly PeerScheme[]): string {
  const keys = schemes.flatMap(({ header }) => (header === undefined ? [] : [header.toLowerCase()]));
  return keys.length === schemes.length && keys[0] !== undefined ? keys[0] : 'authorization';
}
