import {
  anything,
  type Complete,
  choice,
  count,
  described,
  flag,
  list,
  object,
  record,
  recordOrNull,
  req_id,
  requiredName,
  seconds,
  text,
} from '../fields.ts';
import { EVENT_FIELDS } from '../message.ts';
import { answer, event, type Namespace, request } from '../message-row.ts';

export const NODE_KINDS = ['tool', 'skill', 'proc', 'branch', 'map'] as const;
export const CHAIN_PHASES = ['start', 'done', 'skip', 'error'] as const;

/** One step. Its kind decides which fields matter; the host checks the graph before it runs. */
export const ChainNode = object(
  {
    node_id: described('The name of its output, as in `$.node_id.field`.', requiredName),
    kind: { enum: NODE_KINDS },
    name: described('tool, skill: the name.', text('')),
    input: described('tool, skill: the arguments.', record),
    input_map: described(
      'Arguments that override `input`, by name. A string such as `$.node_id.field`, `$.input.x`, `$.x`, `$.list.0` or `$.item` is a path; any other value is used unchanged.',
      record,
    ),
    condition: described(
      'A path, number, true, false, null or quoted text, or two of them with one of `== != >= <= > <` between them. Empty means true. A branch follows it; any other node is skipped if it is false.',
      text(''),
    ),
    true_node: described('branch: the id of the next node. Empty: `next_node`.', text('')),
    false_node: described('branch: the id of the next node. Empty: `next_node`.', text('')),
    items_path: described('map: the path of a list, such as `$.list`.', text('')),
    map_node: described(
      'map: the id of the tool or skill node to run for each item; `$.item` is the item, `$.index` its number.',
      text(''),
    ),
    next_node: described('The id of the next node. Empty: the chain ends.', text('')),
    on_error: described(
      '`abort`, `skip` or the id of the node to continue with. In every case the chain has failed.',
      text('abort'),
    ),
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
  // `{code, message}` of the error.
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
