import type { ExecutionResult, ValidationReport } from '../../packages/protocols/src/a2e-workflow/message.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { type CallOptions, call, type HttpAnswer } from './call.ts';
import type { System } from './system.ts';

/** The lines of a workflow, from its operations by id. */
export function workflowOf(
  operations: Readonly<Record<string, JsonObject>>,
  { id, order = Object.keys(operations) }: { id?: string; order?: readonly string[] } = {},
): string {
  const lines = Object.entries(operations).map(([operationId, operation]) =>
    JSON.stringify({ type: 'operationUpdate', operationId, operation }),
  );
  const begin = { type: 'beginExecution', executionId: id ?? fresh(), operationOrder: order };
  return [...lines, JSON.stringify(begin)].join('\n');
}

/** An unused id. */
export function fresh(): string {
  number += 1;
  return `exec-${number}`;
}

let number = 0;

/** An agent that sends workflows. */
export class WorkflowCaller {
  readonly key: string;
  readonly #system: Pick<System, 'url'>;

  constructor(system: Pick<System, 'url'>, key: string) {
    this.#system = system;
    this.key = key;
  }

  call(options: CallOptions): Promise<HttpAnswer> {
    return call(this.#system.url, { key: this.key, ...options });
  }

  post(name: 'validate' | 'plan' | 'execute', json: JsonObject, options: Partial<CallOptions> = {}) {
    return this.call({ method: 'POST', path: `/api/v1/workflows/${name}`, json, ...options });
  }

  async execute(workflow: string, options: JsonObject = {}): Promise<ExecutionResult> {
    const answer = await this.post('execute', { workflow, ...options });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
    return JSON.parse(text);
  }

  async validate(workflow: string, options: JsonObject = {}): Promise<ValidationReport> {
    return (await (await this.post('validate', { workflow, ...options })).json()) as ValidationReport;
  }

  async get(path: string): Promise<{ status: number; json: JsonObject }> {
    const answer = await this.call({ path: `/api/v1/${path}` });
    return { status: answer.status, json: (await answer.json()) as JsonObject };
  }

  /** The execution once it has ended. */
  async ended(id: string): Promise<ExecutionResult> {
    for (;;) {
      const { json } = await this.get(`executions/${id}`);
      if (json['status'] !== 'running') return json as ExecutionResult;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
