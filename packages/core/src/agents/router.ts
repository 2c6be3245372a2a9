import { nearest } from '@dragoman/protocols';
import type { Handler } from '../call/handler.ts';
import { allows, type Principal } from '../call/principal.ts';
import { targetOf } from '../call/target.ts';
import { refuse } from '../refusals/refused.ts';
import type { Agent } from './agent.ts';
import { type AnsweringOptions, answering } from './answering.ts';

/** The agents that can be reached, by id. */
export class Router {
  readonly #agents = new Map<string, { agent: Agent; handler: Handler }>();
  readonly #answering: AnsweringOptions;
  defaultAgent: string | undefined;

  constructor({ defaultAgent, ...options }: AnsweringOptions & { readonly defaultAgent?: string | undefined }) {
    this.#answering = options;
    this.defaultAgent = defaultAgent;
  }

  /** Adds an agent. Returns the agent that had this id before, which may still be answering. */
  add(agent: Agent): Agent | undefined {
    const before = this.#agents.get(agent.id)?.agent;
    this.#agents.set(agent.id, { agent, handler: answering(agent, this.#answering) });
    return before;
  }

  /** Removes an agent from routing and returns it, because it may still be answering. */
  take(id: string): Agent | undefined {
    const found = this.#agents.get(id);
    this.#agents.delete(id);
    return found?.agent;
  }

  /** Removes an agent and ends its requests. */
  async remove(id: string): Promise<boolean> {
    const agent = this.take(id);
    await agent?.[Symbol.asyncDispose]();
    return agent !== undefined;
  }

  find(id: string): Agent | undefined {
    return this.#agents.get(id)?.agent;
  }

  /** Called after sessions were removed, so that agents remove their data for them. */
  async tidy(): Promise<void> {
    await Promise.all([...this.#agents.values()].map(({ agent }) => agent.tidy?.()));
  }

  /** Whether a request goes to one of the server's own targets, which answer every method themselves. */
  isForOwnTarget(envelope: Parameters<Handler>[0]): boolean {
    const id = targetOf(envelope);
    return id !== undefined && this.find(id)?.refusal !== undefined;
  }

  has(id: string): boolean {
    return this.#agents.has(id);
  }

  /** The ids of all agents except the server's own targets. */
  ids(): string[] {
    return [...this.#agents].flatMap(([id, { agent }]) => (agent.refusal === undefined ? [id] : []));
  }

  /** The agent for an envelope: the one it names, or the default agent if it names none. */
  resolve(envelope: Parameters<Handler>[0], { permissions }: Principal): string {
    const id = targetOf(envelope) ?? this.defaultAgent;
    if (id === undefined)
      refuse('no_route', {}, 'The request does not name an agent, and no default agent is configured.');
    if (this.#agents.has(id)) return id;
    // Suggests only what the caller may call.
    const reachable = this.ids().filter((other) => allows(permissions.agents, other));
    const close = nearest(id, reachable);
    refuse(
      'no_route',
      close === undefined ? {} : { suggestions: [`did you mean ${close}?`] },
      `Unknown agent ${JSON.stringify(id)}.`,
    );
  }

  readonly handler: Handler = (envelope, call) => {
    const found = this.#agents.get(this.resolve(envelope, call.principal));
    if (found === undefined) refuse('no_route');
    return found.handler(envelope, call);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    // The agents stay registered, so that a late request is refused because the server stops, not with `no_route`.
    await Promise.all([...this.#agents.values()].map(({ agent }) => agent[Symbol.asyncDispose]()));
  }
}
