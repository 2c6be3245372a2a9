import type { Static } from '@dragoman/protocols';
import { type Filled, withDefaults } from '../schema/with-defaults.ts';

const positive = { type: 'integer', minimum: 1 } as const;
const seconds = { type: 'integer', minimum: 0 } as const;

/** `workflows:` in the configuration: the limits of executions. */
export const WorkflowsShape = {
  type: 'object',
  description: 'Limits of A2E workflow executions.',
  properties: {
    max_workflow_bytes: {
      type: 'integer',
      minimum: 1024,
      default: 262_144,
      description: 'The largest body of a request with a workflow, in bytes.',
    },
    max_operations: { ...positive, default: 20, description: 'Maximum number of operations of one workflow.' },
    max_steps: {
      ...positive,
      default: 1000,
      description: 'Maximum number of operations that one execution runs; each run in a loop counts.',
    },
    max_api_calls: { ...positive, default: 30, description: 'Maximum number of API calls of one execution.' },
    max_depth: { ...positive, default: 4, description: 'The deepest nesting of Conditional and Loop.' },
    max_iterations: { ...positive, default: 1000, description: 'Maximum number of items of one Loop.' },
    max_data_bytes: { ...positive, default: 16_777_216, description: 'Maximum data of one execution, in bytes.' },
    max_answer_bytes: {
      ...positive,
      default: 5_242_880,
      description: 'The largest API response after decompression, in bytes.',
    },
    timeout_ms: {
      ...positive,
      default: 30_000,
      description: 'The timeout of an execution that does not set one.',
    },
    max_timeout_ms: { ...positive, default: 600_000, description: 'The longest timeout that an execution may set.' },
    max_parallel: { ...positive, default: 256, description: 'Executions that run at once; others wait.' },
    store_bytes: {
      ...positive,
      default: 16_777_216,
      description: 'Maximum bytes that one agent may store with StoreData.',
    },
    store_keys: {
      ...positive,
      default: 1000,
      description: 'Maximum number of keys that one agent may store with StoreData.',
    },
    cache_seconds: {
      ...seconds,
      default: 300,
      description: 'How long the answer of an API is cached; 0 turns the cache off.',
    },
  },
  additionalProperties: false,
} as const;
export type WorkflowsConfig = Static<typeof WorkflowsShape>;

/**
 * The limits with their defaults filled in, which are the spec's where it has a number (A2E, Security Constraints and
 * Caching).
 */
export type WorkflowLimits = Filled<typeof WorkflowsShape>;

export const DEFAULT_WORKFLOW_LIMITS: WorkflowLimits = withDefaults(WorkflowsShape, {});
