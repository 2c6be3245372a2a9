import type { JsonLimits } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import type { Audit } from './audit.ts';
import type { BacklogRoom } from './backlog.ts';
import type { PluginTable } from './plugin-table.ts';
import type { WireConnection } from './wire-connection.ts';
import type { WireLimits } from './wire-limits.ts';

/** Sends a connection's messages, each a line of JSON without its line break. */
export interface WireSink {
  send(text: string): void;
  /** Closes after everything that was sent. */
  close(): void;
  /** Whether the peer has much unread data, so that events should wait. Absent if it never has. */
  isFull?(): boolean;
  /** Calls back once, when the peer has read some of it. */
  whenRead?(callback: () => void): void;
}

/** The dependencies of a connection. */
export interface ConnectionParts {
  readonly plugins: PluginTable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: WireLimits;
  readonly jsonLimits: JsonLimits | undefined;
  readonly reader: JsonReader;
  readonly startedAt: Date;
  /** Returns the principal of a token. */
  readonly identify: (token: string) => Principal | undefined;
  /** The caller with its current permissions, which may change during the connection. */
  readonly renewed: (principal: Principal) => Principal;
  /** Reserves this connection for the caller; false if the caller has too many. */
  readonly seat: (principal: Principal) => boolean;
  /** Counts a request against its caller's limits, or throws. */
  readonly count: (principal: Principal) => void;
  readonly audit: Audit | undefined;
  readonly sink: WireSink;
  /** The shared room for unread events. */
  readonly backlogRoom: BacklogRoom;
  /** Called once, when the connection has closed. */
  readonly onClosed: (connection: WireConnection) => void;
}
