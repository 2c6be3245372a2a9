import { type MailboxMessage, sameAgentId } from '@dragoman/protocols/a2a-mailbox';
import { allows, type Principal } from '../call/principal.ts';

/** An agent that can be written to, as its operator describes it. */
export interface Addressee {
  readonly id: string;
  readonly name?: string | undefined;
  /** Its ERC-8004 id. */
  readonly agentId?: string | undefined;
  /** The task types that it handles. */
  readonly skills?: readonly string[] | undefined;
}

/** The identity of the mailbox itself: it answers messages that name the mailbox or no recipient. */
export interface MailboxIdentity {
  readonly name: string;
  readonly agentId: string | null;
}

/** The target of a message, and the identity that answers it. */
export interface Addressed {
  /** Absent: the default agent. */
  readonly target: string | undefined;
  readonly from: MailboxIdentity;
}

/** Finds the agent that a message is for. */
export class Directory {
  readonly #identity: MailboxIdentity;
  readonly #addressees: () => readonly Addressee[];

  constructor({ identity, addressees }: { identity: MailboxIdentity; addressees: () => readonly Addressee[] }) {
    this.#identity = identity;
    this.#addressees = addressees;
  }

  /**
   * Finds the recipient by its `agentId`; if the message has none, by its id or name. A message without a recipient, or
   * to the mailbox itself, goes to the first agent with the `taskType` among its skills that the sender may call, else to
   * the default agent.
   */
  find({ to, metadata }: MailboxMessage, principal: Principal): Addressed {
    const { name, agentId } = to;
    if (this.#isOurs(to)) return { target: this.#skilled(metadata.taskType, principal), from: this.#identity };
    const found = agentId === null ? this.#named(name ?? '') : this.#withAgentId(agentId);
    // An unknown name is kept as written: the router reports that there is no such agent.
    if (found === undefined) return { target: agentId ?? name ?? '', from: { name: name ?? 'agent', agentId } };
    return { target: found.id, from: { name: found.name ?? found.id, agentId: found.agentId ?? null } };
  }

  /** Whether an `agentId` belongs to the mailbox, or to an agent other than the one with this id. */
  isTaken(agentId: string, id: string): boolean {
    const holders = this.#addressees().filter((one) => one.agentId !== undefined && sameAgentId(one.agentId, agentId));
    if (holders.length > 0) return holders.every((one) => one.id !== id);
    const { agentId: ourId } = this.#identity;
    return ourId !== null && sameAgentId(agentId, ourId);
  }

  /** A name or `agentId` that an agent shares with the mailbox belongs to the agent. */
  #isOurs({ name, agentId }: MailboxMessage['to']): boolean {
    const { name: ourName, agentId: ourId } = this.#identity;
    if (agentId !== null) {
      return ourId !== null && sameAgentId(agentId, ourId) && this.#withAgentId(agentId) === undefined;
    }
    return name === null || (name === ourName && this.#named(name) === undefined);
  }

  #withAgentId(agentId: string): Addressee | undefined {
    return this.#addressees().find((one) => one.agentId !== undefined && sameAgentId(one.agentId, agentId));
  }

  #named(name: string): Addressee | undefined {
    const addressees = this.#addressees();
    return addressees.find(({ id }) => id === name) ?? addressees.find((one) => one.name === name);
  }

  #skilled(taskType: string | undefined, { permissions }: Principal): string | undefined {
    if (taskType === undefined) return undefined;
    return this.#addressees().find(({ id, skills }) => skills?.includes(taskType) && allows(permissions.agents, id))
      ?.id;
  }
}
