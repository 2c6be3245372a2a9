import { failure, type Issue, type JsonObject, type JsonSchema } from '@dragoman/protocols';
import type { AskedOutcome } from '../executions/asked.ts';
import { allows, type Principal } from '../principal.ts';
import { ToolWorkflow, type WorkflowRules } from '../tools/tool-workflow.ts';

/** A workflow under a name, as an operator wrote it. */
export interface StoredDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON lines; `{{name}}` is an input. */
  readonly text: string;
  readonly version: number;
}

/** A stored workflow's name stands in paths, in permissions, and beside the three methods of the target. */
export function isWorkflowName(name: string): boolean {
  return /^(?!workflow\.)[a-zA-Z0-9._-]{1,128}$/.test(name);
}

/** Workflows that operators have stored under a name, for callers with that name in `permissions.workflows`. */
export class StoredWorkflows {
  readonly #rules: WorkflowRules;
  #byName: ReadonlyMap<string, StoredWorkflow> = new Map();
  /** Grows with every change. */
  version = 1;

  constructor(rules: WorkflowRules) {
    this.#rules = rules;
  }

  /** Replaces all of them. Throws for the first that no caller could run. */
  replace(definitions: readonly StoredDefinition[]): void {
    this.#byName = new Map(definitions.map((one) => [one.name, new StoredWorkflow(one, this.#rules)]));
    this.version += 1;
  }

  find(name: string): StoredWorkflow | undefined {
    return this.#byName.get(name);
  }

  all(): readonly StoredWorkflow[] {
    return [...this.#byName.values()];
  }

  /** Those a caller may run, by name. */
  list({ permissions }: Principal): readonly StoredWorkflow[] {
    return this.all().filter(({ name }) => allows(permissions.workflows, name));
  }
}

export class StoredWorkflow {
  readonly name: string;
  readonly description: string;
  readonly version: number;
  /** JSON Schema of its inputs. */
  readonly inputs: JsonSchema;
  readonly #rules: WorkflowRules;
  readonly #workflow: ToolWorkflow;

  constructor({ name, description, version, text }: StoredDefinition, rules: WorkflowRules) {
    const workflow = ToolWorkflow.of(text, { source: name, rules });
    if (!(workflow instanceof ToolWorkflow)) throw new Error(`workflow ${name}: ${workflow.fault}`);
    this.name = name;
    this.description = description;
    this.version = version;
    this.inputs = workflow.inputs;
    this.#workflow = workflow;
    this.#rules = rules;
  }

  /** The workflow with its inputs filled in, or what is wrong with the inputs. */
  read(inputs: JsonObject, executionId: string): AskedOutcome {
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
        suggestion: known.length === 0 ? 'this workflow takes no inputs' : `use ${known.join(', ')}`,
      })),
    ];
  }
}
