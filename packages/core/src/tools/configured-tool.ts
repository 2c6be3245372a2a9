import type { JsonObject, JsonSchema } from '@dragoman/protocols';
import type { WorkflowService } from '../executions/workflows.ts';
import type { Gate } from '../gate/gate.ts';
import type { Ids } from '../ports/ports.ts';
import type { Hub } from '../runs/hub.ts';
import type { JsonReader } from '../worker-threads/json-reader.ts';
import { agentTool } from './agent-tool.ts';
import { ArgumentCheck } from './argument-check.ts';
import { httpTool } from './http-tool.ts';
import { schemaMistake } from './schema-mistake.ts';
import type { Tool, ToolCall, ToolOutcome } from './tool.ts';
import { toolDefinition } from './tool-definition.ts';
import type { ConfiguredTool } from './tools-config.ts';
import { workflowTool } from './workflow-tool.ts';

/** The services that configured tools can use. A tool that needs a missing one is refused. */
export interface ToolBackends {
  readonly engine: Hub;
  readonly ids: Ids;
  readonly gate?: Gate;
  readonly reader?: JsonReader;
  readonly workflows?: Pick<WorkflowService, 'executions' | 'reader' | 'limits' | 'catalog'>;
}

/** The part of a configured tool that answers it. */
export interface Backend {
  /** The schema of the arguments for an entry without `input`. */
  readonly input: JsonSchema;
  run(args: JsonObject, call: ToolCall): Promise<ToolOutcome>;
}

/** Opens a tool that the configuration describes. A new kind is a file beside this one and a line in the table. */
export function configuredTool(entry: ConfiguredTool, backends: ToolBackends): Tool {
  const kinds = KINDS.filter(({ of }) => entry[of] !== undefined);
  const [kind, second] = kinds;
  if (kind === undefined || second !== undefined) {
    const given = second === undefined ? 'none' : kinds.map(({ of }) => of).join(' and ');
    throw new Error(`tool ${entry.name}: it needs one of ${KINDS.map(({ of }) => of).join(', ')}; got ${given}`);
  }
  const { input, run } = kind.open(entry, backends);
  const schema = (entry.input as JsonSchema | undefined) ?? input;
  const mistake = schemaMistake(schema);
  if (mistake !== undefined) throw new Error(`tool ${entry.name}: input ${mistake}`);
  const check = new ArgumentCheck(schema, entry.name);
  return {
    definition: toolDefinition({ ...entry, input: schema }),
    answeredBy: kind.of,
    record: entry.record,
    issuesOf: (args) => check.issuesOf(args),
    run,
  };
}

interface Kind {
  /** The member of an entry that selects this kind. */
  readonly of: NonNullable<Tool['answeredBy']>;
  open(entry: ConfiguredTool, backends: ToolBackends): Backend;
}

const KINDS: readonly Kind[] = [
  { of: 'http', open: httpTool },
  { of: 'agent', open: agentTool },
  { of: 'workflow', open: workflowTool },
];
