import { describeNamespace } from '../namespace.contract.ts';
import { skill } from './skill.ts';

describeNamespace(skill, [
  ['skill/discover/req', {}, { filter_tags: [], filter_categories: [] }],
  [
    'skill/discover/resp',
    { skills: [{ name: 's' }] },
    {
      req_id: '',
      skills: [
        {
          name: 's',
          version: '',
          description: '',
          triggers: [],
          tools: null,
          toolkits: null,
          status: 'Published',
          input_schema: {},
          output_schema: {},
          instructions: null,
          file_path: null,
          llm_config: null,
          when_to_use: '',
          argument_hint: '',
          source: '',
          category: null,
          tags: null,
          max_turns: null,
          timeout_seconds: null,
          icon: null,
          metadata: null,
        },
      ],
    },
  ],
  [
    'skill/call/req',
    {},
    { name: '', arguments: {}, correlation_id: '', timeout: 60, streaming: true, llm_override: null, metadata: {} },
  ],
  [
    'skill/call/resp',
    { data: { success: true } },
    {
      req_id: '',
      name: '',
      data: {
        success: true,
        data: null,
        summary: null,
        truncated: false,
        error: null,
        error_code: null,
        duration_ms: 0,
        events: [],
      },
      error: null,
    },
  ],
  ['skill/event', {}, { kind: 'status', req_id: '', data: {}, seq: 0 }],
]);
