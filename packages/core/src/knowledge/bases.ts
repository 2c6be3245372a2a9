import { accept, type Issue, issuesOf, type Json, type Outcome, reject, show } from '@dragoman/protocols';
import { nameIssues } from '../apis/given-name.ts';
import { allows, type Principal } from '../call/principal.ts';
import { KnowledgeBaseDefinition as validate } from '../generated/knowledge.js';
import type { Clock } from '../ports/ports.ts';
import type { KnowledgeStore } from '../store/knowledge.ts';
import { OwnWrites } from '../store/own-writes.ts';
import { KnowledgeBaseDefinition } from './definition.ts';

export interface KnowledgeBase extends KnowledgeBaseDefinition {
  readonly id: string;
}

/** The knowledge bases: documents, and who may search them. */
export class KnowledgeBases {
  readonly #store: KnowledgeStore;
  readonly #clock: Clock;
  readonly #bases = new Map<string, KnowledgeBase>();
  readonly #writes = new OwnWrites();
  /** Increases with every change. */
  version = 0;

  constructor({ store, clock }: { store: KnowledgeStore; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Reads the recorded bases; called again after another process has changed them. `false`: call it once more. */
  load(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const there = new Set(rows.map(({ baseId }) => baseId));
        for (const id of this.#bases.keys()) if (!there.has(id) && !isOwn(id)) this.#bases.delete(id);
        for (const { baseId, definition } of rows) {
          if (!isOwn(baseId)) this.#bases.set(baseId, JSON.parse(definition) as KnowledgeBase);
        }
        this.version += 1;
      },
    );
  }

  put(base: KnowledgeBase): Promise<'made' | 'replaced'> {
    return this.#writes.of(base.id, async () => {
      await this.#store.put({
        baseId: base.id,
        definition: JSON.stringify(base),
        createdAt: this.#clock.now().getTime(),
      });
      const known = this.#bases.has(base.id);
      this.#bases.set(base.id, base);
      this.version += 1;
      return known ? 'replaced' : 'made';
    });
  }

  remove(id: string): Promise<boolean> {
    return this.#writes.of(id, async () => {
      const removed = await this.#store.remove(id);
      this.#bases.delete(id);
      this.version += 1;
      return removed;
    });
  }

  find(id: string): KnowledgeBase | undefined {
    return this.#bases.get(id);
  }

  list(): readonly KnowledgeBase[] {
    return [...this.#bases.values()];
  }

  /** The knowledge bases that a caller may search. */
  listFor(principal: Principal): readonly KnowledgeBase[] {
    return this.list().filter(({ id }) => this.permits(principal, id));
  }

  permits({ id: agentId }: Principal, id: string): boolean {
    return allows(this.#bases.get(id)?.agents ?? [], agentId);
  }
}

/** A knowledge base as administration sends it, or every problem. */
export function decodeKnowledgeBase(id: string, json: Json): Outcome<KnowledgeBase> {
  const issues: Issue[] = [...nameIssues('a knowledge base', id), ...issuesOf(validate, KnowledgeBaseDefinition, json)];
  if (issues.length > 0) return reject(...issues);
  const definition = json as unknown as KnowledgeBaseDefinition;
  const seen = new Set<string>();
  for (const [index, document] of definition.documents.entries()) {
    if (seen.has(document.id)) {
      const message = `document ids must be unique; ${show(document.id)} is repeated`;
      issues.push({ pointer: `/documents/${index}/id`, code: 'repeated', message });
    }
    seen.add(document.id);
  }
  return issues.length > 0 ? reject(...issues) : accept({ id, ...definition });
}
