import { accept, type Issue, issuesOf, type Json, type Outcome, reject } from '@dragoman/protocols';
import { REGISTRY } from '@dragoman/protocols/a2a-messages';
import { ALL_PERMISSIONS, NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { BUILT_IN_TARGETS } from '../call/target.ts';
import { AgentDefinition as validate } from '../generated/registry.js';
import type { Clock } from '../ports/ports.ts';
import { publicKeyFault } from '../signing/public-keys.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { AgentStore, KeyRow } from '../store/store.ts';
import { AgentBody } from './definition.ts';

/** The agents that administration has created, with their permissions. */
export class Callers {
  readonly #store: AgentStore;
  readonly #clock: Clock;
  readonly #agents = new Map<string, AgentBody>();
  readonly #writes = new OwnWrites();
  #isLoaded = false;
  /** Computed from the list and cached until it changes. */
  readonly #principals = new WeakMap<KeyRow, { principal: Principal | undefined; changes: number }>();
  readonly #renewed = new WeakMap<Principal, { principal: Principal; changes: number }>();
  /** Increases with every change, for code that caches values computed from the list. */
  changes = 0;

  constructor({ store, clock }: { store: AgentStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Reads the recorded agents, and again after another process has changed them. Returns false when some must be read once more.
   * `onChange` is called with every agent that has changed.
   */
  load(onChange: (agentId: string, before: AgentBody | undefined) => void = () => {}): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const gone = new Map(this.#agents);
        const changed: [string, AgentBody | undefined][] = [];
        for (const { agentId, definition } of rows) {
          const before = this.#agents.get(agentId);
          gone.delete(agentId);
          if (isOwn(agentId) || (before !== undefined && JSON.stringify(before) === definition)) continue;
          this.#agents.set(agentId, JSON.parse(definition) as AgentBody);
          changed.push([agentId, before]);
        }
        for (const [agentId, before] of gone) {
          if (isOwn(agentId)) continue;
          this.#agents.delete(agentId);
          changed.push([agentId, before]);
        }
        this.#isLoaded = true;
        this.changes += 1;
        for (const [agentId, before] of changed) onChange(agentId, before);
      },
    );
  }

  /** Reads the recorded agents, unless that was done. */
  async ensureLoaded(): Promise<void> {
    if (!this.#isLoaded) await this.load();
  }

  put(definition: AgentBody): Promise<void> {
    const agentId = definition.agent_id;
    return this.#writes.of(agentId, async () => {
      const createdAt = this.#clock.now().getTime();
      await this.#store.put({ agentId, definition: JSON.stringify(definition), createdAt });
      this.#agents.set(agentId, definition);
      this.changes += 1;
    });
  }

  find(agentId: string): AgentBody | undefined {
    return this.#agents.get(agentId);
  }

  list(): AgentBody[] {
    return [...this.#agents.values()];
  }

  remove(agentId: string): Promise<boolean> {
    return this.#writes.of(agentId, () => {
      this.#agents.delete(agentId);
      this.changes += 1;
      return this.#store.remove(agentId);
    });
  }

  /** The caller that a key proves; `undefined` when its agent is gone. */
  principalOf(key: KeyRow): Principal | undefined {
    if (key.role === 'admin') return { id: 'admin', kind: 'admin', permissions: ALL_PERMISSIONS, keyId: key.keyId };
    const known = this.#principals.get(key);
    if (known?.changes === this.changes) return known.principal;
    const agent = this.named(key.agentId);
    const principal = agent && { ...agent, keyId: key.keyId };
    this.#principals.set(key, { principal, changes: this.changes });
    return principal;
  }

  /** An earlier caller with its current permissions. It has none once its agent is gone. */
  renewed(principal: Principal): Principal {
    if (principal.kind === 'admin') return principal;
    const known = this.#renewed.get(principal);
    if (known?.changes === this.changes) return known.principal;
    const { id, kind, keyId } = principal;
    const agent = this.named(id) ?? { id, kind, permissions: NO_PERMISSIONS };
    const now = { ...agent, ...(keyId !== undefined && { keyId }) };
    this.#renewed.set(principal, { principal: now, changes: this.changes });
    return now;
  }

  /** The agent as a caller that was proven by other means than an API key. */
  named(agentId: string): Principal | undefined {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return undefined;
    return {
      id: agent.agent_id,
      kind: 'agent',
      permissions: { ...NO_PERMISSIONS, ...agent.permissions },
      ...(agent.limits !== undefined && { limits: agent.limits }),
    };
  }
}

/** Decodes the body of `POST /admin/v1/agents`. */
export function decodeAgentDefinition(json: Json): Outcome<AgentBody> {
  const issues: Issue[] = [...issuesOf(validate, AgentBody, json)];
  if (issues.length > 0) return reject(...issues);
  const definition = json as AgentBody;
  if (RESERVED_AGENT_IDS.has(definition.agent_id.toLowerCase())) {
    const message = `agent_id must not be ${definition.agent_id}: the name is reserved`;
    return reject({ pointer: '/agent_id', code: 'reserved', message, suggestion: 'choose another name' });
  }
  const fault = definition.public_key === undefined ? undefined : publicKeyFault(definition.public_key);
  if (fault !== undefined) {
    return reject({ pointer: '/public_key', code: 'public_key', message: `public_key must be ${fault}` });
  }
  return accept(definition);
}

/** Names with another meaning where an agent's name is expected. */
export const RESERVED_AGENT_IDS: ReadonlySet<string> = new Set([REGISTRY, 'admin', ...BUILT_IN_TARGETS]);
