import type { JsonLimits } from '@dragoman/protocols';
import type { Principal } from '../../call/principal.ts';
import type { Clock, Ids, Log } from '../../ports/ports.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import type { Audit } from './audit.ts';
import type { BacklogRoom } from './backlog.ts';
import type { PluginTable } from './plugin-table.ts';
import type { WireConnection } from './wire-connection.ts';
import type { WireLimits } from './wire-limits.ts';

/** Where a connection's messages go: one at a time, each a line of JSON without its line break. */
export interface WireSink {
  send(text: string): void;
  /** After everything that was sent. */
  close(): void;
  /** Whether the peer has much to read already; what may wait is then kept back. Absent where it never has. */
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
  /** The same caller with what it may do now: a connection outlives changes of that. */
  readonly renewed: (principal: Principal) => Principal;
  /** Whether this caller may have one more connection, which is then this. */
  readonly seat: (principal: Principal) => boolean;
  /** Counts a request against its caller's limits, or throws. */
  readonly count: (principal: Principal) => void;
  readonly audit: Audit | undefined;
  readonly sink: WireSink;
  /** For what its peer does not read. */
  readonly backlogRoom: BacklogRoom;
  /** Called once, when nothing more is taken or sent. */
  readonly onClosed: (connection: WireConnection) => void;
}
