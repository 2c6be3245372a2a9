import type { Static } from '@dragoman/protocols';
import { type Filled, withDefaults } from '../schema/with-defaults.ts';

const positive = { type: 'integer', minimum: 1 } as const;
const seconds = { type: 'integer', minimum: 0 } as const;

/** `workflows:` in the configuration: what executions may take. */
export const WorkflowsShape = {
  type: 'object',
  description: 'What executions of A2E workflows may take.',
  properties: {
    max_workflow_bytes: {
      type: 'integer',
      minimum: 1024,
      default: 262_144,
      description: 'The body of a request with a workflow in it.',
    },
    max_operations: { ...positive, default: 20, description: 'Operations of one workflow.' },
    max_steps: { ...positive, default: 1000, description: 'Operations run in one execution, each time counted.' },
    max_api_calls: { ...positive, default: 30, description: 'API calls of one execution.' },
    max_depth: { ...positive, default: 4, description: 'Levels of Conditional and Loop.' },
    max_iterations: { ...positive, default: 1000, description: 'Items of one Loop.' },
    max_data_bytes: { ...positive, default: 16_777_216, description: 'The data of one execution.' },
    max_answer_bytes: { ...positive, default: 5_242_880, description: 'One answer of an API, inflated.' },
    timeout_ms: {
      ...positive,
      default: 30_000,
      description: 'How long an execution may take that asks for nothing else.',
    },
    max_timeout_ms: { ...positive, default: 600_000, description: 'The longest time it may ask for.' },
    max_parallel: { ...positive, default: 256, description: 'Executions that run at once; others wait.' },
    store_bytes: { ...positive, default: 16_777_216, description: 'What one agent may keep by StoreData.' },
    store_keys: { ...positive, default: 1000, description: 'Under how many keys.' },
    cache_seconds: {
      ...seconds,
      default: 300,
      description: 'How long the answer of an API is cached; 0 turns the cache off.',
    },
  },
  additionalProperties: false,
} as const;
export type WorkflowsConfig = Static<typeof WorkflowsShape>;

/** The same with everything decided. A2E, Security Constraints and Caching, where the spec has a number. */
export type WorkflowLimits = Filled<typeof WorkflowsShape>;

export const DEFAULT_WORKFLOW_LIMITS: WorkflowLimits = withDefaults(WorkflowsShape, {});
