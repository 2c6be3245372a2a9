import {
  anything,
  type Complete,
  choice,
  count,
  flag,
  list,
  name,
  object,
  record,
  recordOrNull,
  req_id,
  seconds,
  text,
} from '../fields.ts';
import { EVENT_FIELDS } from '../message.ts';
import { answer, event, type Namespace, request } from '../message-row.ts';

export const NODE_KINDS = ['tool', 'skill', 'proc', 'branch', 'map'] as const;
export const CHAIN_PHASES = ['start', 'done', 'skip', 'error'] as const;

/** One step. Which of the fields matter is its kind's business; the host checks the graph when it runs it. */
export const ChainNode = object(
  {
    node_id: name,
    kind: { enum: NODE_KINDS },
    name: text(''),
    input: record,
    input_map: record,
    condition: text(''),
    true_node: text(''),
    false_node: text(''),
    items_path: text(''),
    map_node: text(''),
    next_node: text(''),
    // `abort`, `skip` or the id of the node to go on with.
    on_error: text('abort'),
  },
  ['node_id', 'kind'],
);
export type ChainNode = Complete<typeof ChainNode>;

export const ChainRequest = object({
  session_id: text(''),
  // Empty: the host names the chain.
  chain_id: text(''),
  nodes: list(ChainNode),
  entry_node: text(''),
  initial_input: record,
  correlation_id: text(''),
  streaming: flag(true),
  timeout: seconds(300),
});

export const ChainEvent = object({
  ...EVENT_FIELDS,
  node_id: text(''),
  phase: choice(CHAIN_PHASES, 'start'),
  output: anything,
  error: text(''),
});

export const ChainResponse = object({
  req_id,
  chain_id: text(''),
  success: flag(false),
  outputs: record,
  final_output: anything,
  duration_ms: { type: 'number', minimum: 0, default: 0 },
  nodes_run: count(0),
  // `{code, message}` of what went wrong.
  error: recordOrNull,
});

export const chain = {
  capability: 'chains',
  types: {
    'chain/req': request(ChainRequest, 'chain/resp', { events: 'chain/event' }),
    'chain/event': event(ChainEvent),
    'chain/resp': answer(ChainResponse),
  },
} as const satisfies Namespace;
