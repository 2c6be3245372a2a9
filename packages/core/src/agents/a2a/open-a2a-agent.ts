import type { A2aVersion } from '@dragoman/protocols/lf-a2a';
import type { OutboundHeader } from '../../gate/gate.ts';
import { hostPortOf } from '../../gate/host-port.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import type { Pins } from '../../pins/pins.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import type { SessionStore } from '../../store/store.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { A2aAgent } from './a2a-agent.ts';
import type { PeerCard } from './peer-card.ts';
import { cardUrls, PeerCardSource } from './peer-card-source.ts';
import { PeerWays } from './peer-ways.ts';
import { RemoteSessions } from './remote-sessions.ts';

/** The address of a remote agent and how to call it, as configured. */
export interface PeerPlace {
  /** The URL of the agent; with `isCard`, the URL of its card. */
  readonly url: URL;
  readonly isCard: boolean;
  readonly version?: A2aVersion | undefined;
  /** The configured headers, with their references resolved. */
  readonly headers?: Readonly<Record<string, OutboundHeader>> | undefined;
  readonly credential?: string | undefined;
}

export interface A2aContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: NetworkGate;
  readonly reader?: JsonReader | undefined;
  readonly pins?: Pick<Pins, 'admit' | 'isHeld'> | undefined;
  readonly sessions?: Pick<SessionStore, 'remote' | 'setRemote'> | undefined;
}

/** Opens a remote agent. Its card is read at once, so that a change is reported early; a card that cannot be read is requested again later. */
export function openA2aAgent(id: string, place: PeerPlace, context: A2aContext): A2aAgent {
  const { clock, log, sessions } = context;
  const { ways, card } = reach(id, place, context);
  card
    ?.get()
    .catch((error: unknown) => log.warn({ agent: id, error: String(error) }, 'the card of an agent cannot be used'));
  return new A2aAgent({ id, ways, clock, log, sessions: new RemoteSessions(id, sessions) });
}

/** The current card of a remote agent, for an operator to review before adding it. Nothing is pinned. */
export async function readPeerCard(id: string, place: PeerPlace, context: A2aContext): Promise<PeerCard> {
  const { version: _, ...found } = place;
  const { card } = reach(id, found, { ...context, pins: undefined });
  if (card === undefined) throw new Error('a place without a version has a card');
  return card.get();
}

function reach(
  id: string,
  place: PeerPlace,
  context: A2aContext,
): { ways: PeerWays; card: PeerCardSource | undefined } {
  const { url, isCard, version, headers = {}, credential } = place;
  const { clock, log, pins, reader = new JsonReader() } = context;
  const gate = context.gate.allowing([hostPortOf(url)]);
  const about = { agentId: id, url, version, headers, credential, gate, reader, clock };
  // The card is requested from the operator's own host, which gets all configured headers.
  const cardHeaders = new PeerWays({ ...about, card: undefined }).headersFor({ url: url.href, schemes: [] });
  const isDirect = !isCard && version !== undefined;
  const card = isDirect
    ? undefined
    : new PeerCardSource({
        ...{ agentId: id, version, gate, reader, clock, log, pins },
        urls: isCard ? [url.href] : cardUrls(url),
        headers: cardHeaders,
        howToAccept: `npx dragoman agents accept ${id}`,
      });
  return { ways: new PeerWays({ ...about, card }), card };
}
