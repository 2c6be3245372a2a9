import type { OutboundHeader } from '../../gate/gate.ts';
import type { NetworkGate } from '../../gate/network-gate.ts';
import type { Clock } from '../../ports/ports.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';

/** The address of a remote ACP server, and how it is reached. */
export interface AcpRemoteOptions {
  readonly id: string;
  readonly url: URL;
  /** The configured headers of every request. */
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  /** A gate that lets the host of the URL through. */
  readonly gate: NetworkGate;
  readonly clock: Clock;
  readonly reader: JsonReader;
}
