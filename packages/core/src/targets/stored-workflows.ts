import { failure, type Issue, type JsonObject, type JsonSchema, show } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { WorkflowCatalogue } from '../executions/planner.ts';
import type { ParseOutcome } from '../executions/workflow-request.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import type { WorkflowRow, WorkflowStore } from '../store/workflows.ts';
import { ToolWorkflow, type WorkflowRules } from '../tools/tool-workflow.ts';

/** A workflow under a name, as an operator wrote it. */
export interface StoredDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON lines; `{{name}}` is an input. */
  readonly text: string;
}

/**
 * Whether a name can be that of a stored workflow, which occurs in paths and permissions, and beside the three methods
 * of the target.
 */
export function isWorkflowName(name: string): boolean {
  return /^(?!workflow\.)[a-zA-Z0-9._-]{1,128}$/.test(name);
}

export interface StoredWorkflowsOptions {
  readonly rules: WorkflowRules;
  readonly store: WorkflowStore;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Workflows that operators have stored under a name, for callers with that name in `permissions.workflows`. They come
 * from the configuration, or from administration, where every version is kept.
 */
export class StoredWorkflows implements WorkflowCatalogue {
  readonly #options: StoredWorkflowsOptions;
  #configured: ReadonlyMap<string, StoredWorkflowEntry> = new Map();
  readonly #administered = new Map<string, StoredWorkflowEntry>();
  #byName: ReadonlyMap<string, StoredWorkflowEntry> = new Map();
  #lastChange: Promise<unknown> = Promise.resolve();
  /** Increases with every change. */
  version = 0;

  constructor(options: StoredWorkflowsOptions) {
    this.#options = options;
  }

  /**
   * Call it once. Throws for a configured workflow that no caller could run. A stored workflow of the administration
   * that cannot run is skipped, because the server must run to replace or remove it.
   */
  async load(definitions: readonly StoredDefinition[] = []): Promise<void> {
    this.#configured = this.configured(definitions);
    await this.reload();
  }

  /** Reads the workflows of the administration. Call it again after another process has changed them. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#read());
  }

  async #read(): Promise<void> {
    const { store, log } = this.#options;
    const rows = await store.list();
    const before = new Map(this.#administered);
    this.#administered.clear();
    for (const row of rows) {
      try {
        const known = before.get(row.name);
        this.#check(known?.version === row.version ? known : this.#opened(row, row.version));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.error({ workflow: row.name, reason }, 'a stored workflow cannot run: store it again, or remove it');
      }
    }
    this.#changed();
  }

  /**
   * The workflows of a configuration. Throws for the first that no caller could run, and for workflows that run each
   * other in a circle.
   */
  configured(definitions: readonly StoredDefinition[]): ReadonlyMap<string, StoredWorkflowEntry> {
    const next = new Map(definitions.map((one) => [one.name, this.#opened(one, 1)]));
    const circle = circleIn(new Map([...this.#administered, ...next]));
    if (circle !== undefined) throw new Error(circleText(circle));
    return next;
  }

  /** Replaces the workflows of the configuration. */
  configure(workflows: ReadonlyMap<string, StoredWorkflowEntry>): void {
    this.#configured = workflows;
    this.#changed();
  }

  /**
   * Stores a version that differs from the newest. Refuses a workflow that no caller could run, a circle, and a name of
   * the configuration.
   */
  put(definition: StoredDefinition): Promise<StoredChange> {
    return this.#inTurn(async () => {
      const { name } = definition;
      this.#refuseConfigured(name);
      const opened = this.#opened(definition, 0);
      const { description, text, planHash } = opened;
      const circle = circleIn(new Map([...this.#byName, [name, opened]]));
      if (circle !== undefined) {
        const message = circleText(circle);
        refuse('invalid_message', { issues: [{ pointer: '/workflow', code: 'cycle', message }] }, message);
      }
      const createdAt = this.#options.clock.now().getTime();
      const row = await this.#options.store.put({ name, description, text, planHash, createdAt });
      const before = this.#administered.get(name);
      if (before?.version === row.version) return { workflow: before, change: 'none' };
      const workflow = this.#opened(row, row.version);
      this.#administered.set(name, workflow);
      this.#changed();
      return { workflow, change: before === undefined ? 'made' : 'replaced' };
    });
  }

  /**
   * Removes a workflow; false if it does not exist. Its versions stay on record, and their numbers are not used again.
   */
  remove(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      this.#refuseConfigured(name);
      const removed = await this.#options.store.remove(name, this.#options.clock.now().getTime());
      this.#administered.delete(name);
      this.#changed();
      return removed;
    });
  }

  /** Every version that administration stored under a name, newest first. */
  versions(name: string): Promise<readonly WorkflowRow[]> {
    return this.#options.store.versions(name);
  }

  isConfigured(name: string): boolean {
    return this.#configured.has(name);
  }

  find(name: string): StoredWorkflowEntry | undefined {
    return this.#byName.get(name);
  }

  names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  all(): readonly StoredWorkflowEntry[] {
    return [...this.#byName.values()];
  }

  /** The workflows that a caller may run, by name. */
  list({ permissions }: Principal): readonly StoredWorkflowEntry[] {
    return this.all().filter(({ name }) => allows(permissions.workflows, name));
  }

  #opened(definition: StoredDefinition, version: number): StoredWorkflowEntry {
    return new StoredWorkflowEntry(definition, { version, rules: this.#options.rules });
  }

  #check(opened: StoredWorkflowEntry): void {
    const next = new Map([...this.#administered, [opened.name, opened] as const, ...this.#configured]);
    const circle = circleIn(next);
    if (circle !== undefined) throw new Error(circleText(circle));
    this.#administered.set(opened.name, opened);
  }

  #changed(): void {
    const all = new Map([...this.#administered, ...this.#configured]);
    this.#byName = new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
    this.version += 1;
  }

  /** Runs changes one after the other: two workflows stored at once could form a circle that neither check sees. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#lastChange.then(change);
    this.#lastChange = changed.catch(() => {});
    return changed;
  }

  #refuseConfigured(name: string): void {
    if (!this.#configured.has(name)) return;
    const suggestions = [`change workflows.stored.${name} in dragoman.yaml`, 'or choose another name'];
    refuse(
      'conflict',
      { suggestions },
      `The workflow ${show(name)} is in the configuration file and can be changed there only.`,
    );
  }
}

/** A stored workflow, and whether storing it changed anything. */
export interface StoredChange {
  readonly workflow: StoredWorkflowEntry;
  readonly change: 'made' | 'replaced' | 'none';
}

export class StoredWorkflowEntry {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly version: number;
  readonly planHash: string;
  /** JSON Schema of its inputs. */
  readonly inputs: JsonSchema;
  /** The stored workflows that it runs whatever its inputs are. */
  readonly runs: readonly string[];
  readonly #rules: WorkflowRules;
  readonly #workflow: ToolWorkflow;

  /** Throws `Refused` for a workflow that no caller could run. */
  constructor(
    { name, description, text }: StoredDefinition,
    { version, rules }: { readonly version: number; readonly rules: WorkflowRules },
  ) {
    const workflow = ToolWorkflow.of(text, { source: name, rules });
    if (!(workflow instanceof ToolWorkflow)) {
      const { fault, issues } = workflow;
      refuse('invalid_message', { issues }, fault);
    }
    this.name = name;
    this.description = description;
    this.text = text;
    this.version = version;
    this.planHash = workflow.planHash(rules);
    this.inputs = workflow.inputs;
    this.runs = workflow.runs;
    this.#workflow = workflow;
    this.#rules = rules;
  }

  /** The workflow with its inputs filled in, or the problems of the inputs. */
  read(inputs: JsonObject, executionId: string): ParseOutcome {
    const issues = this.#issuesOf(inputs);
    if (issues.length > 0) {
      return { ok: false, failure: failure('invalid_message', { issues }, `${this.name}: ${issues[0]?.message}`) };
    }
    return this.#rules.reader.read({ workflow: this.#workflow.textFor(inputs, executionId) });
  }

  #issuesOf(inputs: JsonObject): Issue[] {
    const known = this.#workflow.blanks.map(({ name }) => name);
    const missing = known.filter((name) => !Object.hasOwn(inputs, name));
    const unknown = Object.keys(inputs).filter((name) => !known.includes(name));
    return [
      ...missing.map((name) => ({
        pointer: `/params/${name}`,
        code: 'required',
        message: `missing required input "${name}"`,
      })),
      ...unknown.map((name) => ({
        pointer: `/params/${name}`,
        code: 'unknown',
        message: `unknown input "${name}"`,
        suggestion: known.length === 0 ? 'this workflow has no inputs' : `use ${known.join(', ')}`,
      })),
    ];
  }
}

/** The names of workflows that run each other in a circle, the first one again at the end; `undefined` when none do. */
function circleIn(workflows: ReadonlyMap<string, StoredWorkflowEntry>): readonly string[] | undefined {
  const cleared = new Set<string>();
  const visit = (name: string, path: readonly string[]): readonly string[] | undefined => {
    const at = path.indexOf(name);
    if (at !== -1) return [...path.slice(at), name];
    if (cleared.has(name)) return undefined;
    for (const next of workflows.get(name)?.runs ?? []) {
      const circle = visit(next, [...path, name]);
      if (circle !== undefined) return circle;
    }
    cleared.add(name);
    return undefined;
  };
  for (const name of workflows.keys()) {
    const circle = visit(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

function circleText(circle: readonly string[]): string {
  return `stored workflows run each other in a circle: ${circle.join(' → ')}`;
}
