import { describeNamespace } from '../namespace.contract.ts';
import { tool } from './tool.ts';

describeNamespace(tool, [
  ['tool/list/req', {}, { filter_kind: '', filter_tags: [], query: '', include_deferred: false }],
  [
    'tool/list/resp',
    { tools: [{ name: 'n', input_parameters: [{ name: 'p', type: 'string' }] }] },
    {
      req_id: '',
      tools: [
        {
          name: 'n',
          description: '',
          input_parameters: [
            { name: 'p', type: 'string', description: '', required: false, enum: null, properties: null },
          ],
          output_parameters: [],
          streaming: true,
          idempotent: false,
          tags: [],
          version: '1.0.0',
          toolkit: null,
          defer_loading: false,
          input_schema: null,
          output_schema: null,
        },
      ],
    },
  ],
  [
    'tool/call/req',
    { arguments: {} },
    { arguments: {}, session_id: '', tool_name: '', correlation_id: '', streaming: false, timeout: 30 },
  ],
  [
    'tool/call/resp',
    { data: { success: true, tool_name: 't' } },
    {
      data: {
        success: true,
        tool_name: 't',
        data: null,
        summary: null,
        truncated: false,
        exit_code: null,
        error: null,
        error_code: null,
        duration_ms: 0,
        events: [],
      },
      req_id: '',
    },
  ],
  ['tool/cancel/req', { target_id: 'c' }, { target_id: 'c', reason: '' }],
  ['tool/cancel/resp', {}, { req_id: '', target_id: '', cancelled: false }],
  ['tool/event', {}, { kind: 'status', req_id: '', data: {}, seq: 0 }],
]);
