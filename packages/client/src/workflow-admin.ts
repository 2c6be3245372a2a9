import type { JsonObject } from '@dragoman/protocols';
import type { Http } from './http.ts';
import { linesOf, type WorkflowInput } from './workflows.ts';

/** A stored workflow without its text. */
export interface StoredWorkflowSummary {
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly plan_hash: string;
  /** The JSON Schema of the inputs. */
  readonly inputs: JsonObject;
  /** A workflow of the configuration can be changed only there. */
  readonly from: 'config' | 'admin';
}

/** One version of a stored workflow, with its text. */
export interface StoredWorkflow extends StoredWorkflowSummary {
  /** The workflow as JSON lines. */
  readonly workflow: string;
  /** Newest first; empty for a workflow of the configuration file. */
  readonly versions: readonly {
    readonly version: number;
    readonly description: string;
    readonly plan_hash: string;
    readonly created_at: string;
    readonly removed_at: string | null;
  }[];
}

/** Administration of stored workflows. */
export class WorkflowAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<readonly StoredWorkflowSummary[]> {
    const gives = { workflows: 'array' } as const;
    const { workflows } = await this.#http.json<{ workflows: readonly StoredWorkflowSummary[] }>({
      path: WORKFLOWS,
      gives,
    });
    return workflows;
  }

  /** Stores a workflow. A changed text or description becomes the next version. */
  put(
    name: string,
    workflow: WorkflowInput,
    { description }: { readonly description?: string } = {},
  ): Promise<StoredWorkflowSummary> {
    const body = JSON.stringify({ workflow: linesOf(workflow), ...(description !== undefined && { description }) });
    return this.#http.json({ method: 'PUT', path: pathOf(name), body, gives: STORED });
  }

  /** A stored workflow with the text of one version. Default: the version that runs. */
  get(name: string, { version }: { readonly version?: number } = {}): Promise<StoredWorkflow> {
    const query = version === undefined ? '' : `?version=${version}`;
    return this.#http.json({ path: `${pathOf(name)}${query}`, gives: { ...STORED, workflow: 'string' } });
  }

  remove(name: string): Promise<{ name: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: pathOf(name), gives: { removed: 'boolean' } });
  }
}

function pathOf(name: string): string {
  return `${WORKFLOWS}/${encodeURIComponent(name)}`;
}

const STORED = { name: 'string', version: 'number', plan_hash: 'string' } as const;
const WORKFLOWS = 'admin/v1/workflows';
