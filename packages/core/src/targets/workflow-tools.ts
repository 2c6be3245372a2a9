import type { Engine } from '../engine.ts';
import type { Ids } from '../ports.ts';
import { answerOf, question } from '../tools/agent-tool.ts';
import type { Tool, ToolSource } from '../tools/tool.ts';
import { toolDefinition } from '../tools/tool-definition.ts';
import type { StoredWorkflow, StoredWorkflows } from './stored-workflows.ts';

export interface WorkflowToolsOptions {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly stored: StoredWorkflows;
}

/** Every stored workflow as a tool of the toolkit `workflows`. `permissions.workflows` decides who may call it. */
export class WorkflowTools implements ToolSource {
  readonly #options: WorkflowToolsOptions;

  constructor(options: WorkflowToolsOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#options.stored.version;
  }

  tools(): Iterable<Tool> {
    return this.#options.stored.all().map((workflow) => this.#tool(workflow));
  }

  find(name: string): Tool | undefined {
    const workflow = this.#options.stored.find(name);
    return workflow && this.#tool(workflow);
  }

  #tool({ name, description, inputs }: StoredWorkflow): Tool {
    const { engine, ids } = this.#options;
    return {
      definition: toolDefinition({ name, description, input: inputs, toolkit: 'workflows' }),
      answeredBy: 'workflow',
      permission: { list: 'workflows', name },
      // The workflow checks its inputs itself.
      issuesOf: () => [],
      run: (params, call) =>
        answerOf(engine, question({ agent: 'workflows', method: name, params, principal: call.principal, ids }), call),
    };
  }
}
