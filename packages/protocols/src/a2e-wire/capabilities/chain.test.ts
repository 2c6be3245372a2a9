import { describeNamespace } from '../namespace.contract.ts';
import { chain } from './chain.ts';

describeNamespace(chain, [
  [
    'chain/req',
    { nodes: [{ node_id: 'a', kind: 'tool' }] },
    {
      session_id: '',
      chain_id: '',
      nodes: [
        {
          node_id: 'a',
          kind: 'tool',
          name: '',
          input: {},
          input_map: {},
          condition: '',
          true_node: '',
          false_node: '',
          items_path: '',
          map_node: '',
          next_node: '',
          on_error: 'abort',
        },
      ],
      entry_node: '',
      initial_input: {},
      correlation_id: '',
      streaming: true,
      timeout: 300,
    },
  ],
  [
    'chain/event',
    {},
    { kind: 'status', req_id: '', data: {}, seq: 0, node_id: '', phase: 'start', output: null, error: '' },
  ],
  [
    'chain/resp',
    {},
    {
      req_id: '',
      chain_id: '',
      success: false,
      outputs: {},
      final_output: null,
      duration_ms: 0,
      nodes_run: 0,
      error: null,
    },
  ],
]);
