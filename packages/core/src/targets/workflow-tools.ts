import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import type { Engine } from '../engine/engine.ts';
import type { Ids } from '../ports/ports.ts';
import { question, toolResultOf } from '../tools/agent-tool.ts';
import type { Tool, ToolSource } from '../tools/tool.ts';
import { type DefinitionGiven, toolDefinition } from '../tools/tool-definition.ts';
import type { StoredWorkflowEntry, StoredWorkflows } from './stored-workflows.ts';
import { mayRun } from './workflows-target.ts';

export interface WorkflowToolsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly stored: StoredWorkflows;
}

/**
 * Every stored workflow as a tool of the toolkit `workflows`, and the methods for a workflow that the caller sends.
 * `permissions.workflows` decides about stored workflows, planning about sent ones.
 */
export class WorkflowTools implements ToolSource {
  readonly #options: WorkflowToolsOptions;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#options.stored.version;
  }

  tools(): Iterable<Tool> {
    return [
      ...AD_HOC.map((method) => this.#adHoc(method)),
      ...this.#options.stored.all().map((one) => this.#tool(one)),
    ];
  }

  find(name: string): Tool | undefined {
    const method = AD_HOC.find((one) => one.name === name);
    if (method !== undefined) return this.#adHoc(method);
    const workflow = this.#options.stored.find(name);
    return workflow && this.#tool(workflow);
  }

  #tool({ name, description, inputs }: StoredWorkflowEntry): Tool {
    return this.#calling({ name, description, input: inputs }, (caller) => mayRun(caller, name));
  }

  #adHoc(method: (typeof AD_HOC)[number]): Tool {
    return this.#calling({ ...method, input: WORKFLOW_INPUT }, ({ permissions }) => permissions.operations.length > 0);
  }

  #calling(given: Pick<DefinitionGiven, 'name' | 'description' | 'input'>, mayUse: NonNullable<Tool['mayUse']>): Tool {
    const { engine, ids } = this.#options;
    const request = (params: JsonObject) => ({ agent: 'workflows', method: given.name, params });
    return {
      definition: toolDefinition({ ...given, toolkit: 'workflows' }),
      answeredBy: 'workflow',
      mayUse,
      // The target checks its own input.
      issuesOf: () => [],
      request,
      run: (args, call) => toolResultOf(engine, question({ ...request(args), call, ids }), call),
    };
  }
}

const AD_HOC = [
  { name: 'workflow.execute', description: 'Runs a workflow from the request.' },
  { name: 'workflow.validate', description: 'Reports all problems of a workflow.' },
  { name: 'workflow.plan', description: 'Reports what a workflow would do, without doing it.' },
] as const;

const WORKFLOW_INPUT: JsonSchema = {
  type: 'object',
  required: ['workflow'],
  properties: {
    workflow: { type: ['string', 'array'], description: 'JSON lines, or an array of messages.' },
    onError: { enum: ['stop', 'continue'] },
    level: { enum: ['strict', 'moderate', 'lenient'] },
    timeout_ms: { type: 'integer', minimum: 1 },
  },
};
