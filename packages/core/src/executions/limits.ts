import type { Static } from '@dragoman/protocols';

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
      description: 'The body of a request with a workflow in it. Default: 256 KiB.',
    },
    max_operations: { ...positive, description: 'Operations of one workflow. Default: 20.' },
    max_steps: { ...positive, description: 'Operations run in one execution, each time counted. Default: 1,000.' },
    max_api_calls: { ...positive, description: 'API calls of one execution. Default: 30.' },
    max_depth: { ...positive, description: 'Levels of Conditional and Loop. Default: 4.' },
    max_iterations: { ...positive, description: 'Items of one Loop. Default: 1,000.' },
    max_data_bytes: { ...positive, description: 'The data of one execution. Default: 16 MiB.' },
    max_answer_bytes: { ...positive, description: 'One answer of an API, inflated. Default: 5 MiB.' },
    timeout_ms: {
      ...positive,
      description: 'How long an execution may take that asks for nothing else. Default: 30,000.',
    },
    max_timeout_ms: { ...positive, description: 'The longest time it may ask for. Default: 600,000.' },
    max_parallel: { ...positive, description: 'Executions that run at once; others wait. Default: 256.' },
    store_bytes: { ...positive, description: 'What one agent may keep by StoreData. Default: 16 MiB.' },
    store_keys: { ...positive, description: 'Under how many keys. Default: 1,000.' },
    cache_seconds: {
      ...seconds,
      description: 'How long the answer of an API is cached; 0 turns the cache off. Default: 300.',
    },
  },
  additionalProperties: false,
} as const;
export type WorkflowsConfig = Static<typeof WorkflowsShape>;

/** The same with everything decided. */
export type WorkflowLimits = Required<WorkflowsConfig>;

/** A2E, Security Constraints and Caching, where the spec has a number. */
export const DEFAULT_WORKFLOW_LIMITS: WorkflowLimits = {
  max_workflow_bytes: 262_144,
  max_operations: 20,
  max_steps: 1000,
  max_api_calls: 30,
  max_depth: 4,
  max_iterations: 1000,
  max_data_bytes: 16_777_216,
  max_answer_bytes: 5_242_880,
  timeout_ms: 30_000,
  max_timeout_ms: 600_000,
  max_parallel: 256,
  store_bytes: 16_777_216,
  store_keys: 1000,
  cache_seconds: 300,
};
