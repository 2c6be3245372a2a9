import type {
  AgentLines,
  Cluster,
  Engine,
  JsonReader,
  NetworkGate,
  ProofFailures,
  References,
  Signatures,
  Store,
  ToolRegistry,
  UnreadBudget,
  Vault,
} from '@dragoman/core';
import type { AnsweringAgents } from '../agents/answering-agents.ts';
import type { FailedLogins } from '../callers/failed-logins.ts';
import type { KeyCheck } from '../callers/key-check.ts';
import type { Intake } from '../edges/intake.ts';
import type { OpeningOptions } from './server-options.ts';

/** The shared dependencies of all endpoints of a server. */
export interface Service extends OpeningOptions {
  readonly store: Store;
  /** This node's membership in the cluster; absent where one process owns the store. */
  readonly cluster: Cluster | undefined;
  /** The agents that have dialled in to this node; absent where one process owns the store. */
  readonly agentLines: AgentLines | undefined;
  readonly vault: Vault;
  readonly gate: NetworkGate;
  /** Resolves the references in `env` and `headers` of the configuration. */
  readonly references: References;
  readonly reader: JsonReader;
  readonly signatures: Signatures;
  readonly intake: Intake;
  readonly engine: Engine;
  readonly agents: AnsweringAgents;
  readonly tools: ToolRegistry;
  readonly proofFailures: ProofFailures;
  readonly keyCheck: KeyCheck;
  readonly failedLogins: FailedLogins;
  readonly address: OwnAddress;
  /** The budget for the bytes held for slow readers, over all connections. */
  readonly unread: UnreadBudget;
}

/** The URL of this server for published documents. Empty until its port is open. */
export interface OwnAddress {
  url: string;
}
