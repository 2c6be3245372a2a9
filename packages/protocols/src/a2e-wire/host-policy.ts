import type { AcceptedCapability, RejectionReason } from './message.ts';

/** The policy of a host for a connection: data and one function. */
export interface HostPolicy<Principal> {
  /** Returns the principal of a handshake's token, which may be blank. */
  readonly accept: (token: string, agentId: string) => Acceptance<Principal>;
  /** The capabilities of the host; an agent gets those it asks for. */
  readonly capabilities: readonly AcceptedCapability[];
  /** Requests that run at the same time. */
  readonly maxParallel: number;
  /** Requests that may wait for a slot. Default: 64. More are refused as `busy`. */
  readonly maxQueued?: number;
  /** The start time of the host, for the uptime in `pong`. */
  readonly startedAt: Date;
  /** Whether messages of unknown types are delivered too, instead of refused. */
  readonly catchAll?: boolean;
  /** The capability that messages of unknown types require. Default: none. */
  readonly catchAllCapability?: string | undefined;
  /** Types that only this host has, and the capability each belongs to. */
  readonly ownTypes?: ReadonlyMap<string, string>;
  /** How long a connection may stay without a handshake. Default: 10. */
  readonly handshakeSeconds?: number;
  /** The longest shutdown, even if the agent asks for more. Default: 300. */
  readonly maxDrainSeconds?: number;
}

/** `busy` is for peers that may connect, but not now. */
export type Acceptance<Principal> =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: Extract<RejectionReason, 'auth_failed' | 'server_error'> | 'busy' };

/**
 * The capabilities that an agent gets: those it wants and the host has, or all if it names none. `undefined` if the
 * host has none of those it names.
 */
export function grant(
  wanted: readonly string[],
  offered: readonly AcceptedCapability[],
): readonly AcceptedCapability[] | undefined {
  const enabled = offered.filter((capability) => capability.enabled);
  const requested = wanted.filter((name) => !SCP_FEATURES.has(name));
  if (requested.length === 0) return enabled;
  const granted = enabled.filter(({ capability }) => requested.includes(capability));
  return granted.length > 0 ? granted : undefined;
}

/** Capability names of the older SCP. They name abilities of the agent, not parts of a host. */
const SCP_FEATURES: ReadonlySet<string> = new Set(['streaming', 'artifacts']);
