import { describeNamespace } from '../namespace.contract.ts';
import { toolkit } from './toolkit.ts';

describeNamespace(toolkit, [
  ['toolkit/list/req', {}, { filter_kind: '', filter_tags: [] }],
  [
    'toolkit/list/resp',
    { toolkits: [{ name: 't' }] },
    {
      req_id: '',
      toolkits: [
        {
          name: 't',
          alias: '',
          description: '',
          category: '',
          tags: [],
          icon_svg: null,
          schema: {},
          tools: [],
          configured: false,
          version: '1.0.0',
        },
      ],
    },
  ],
  ['toolkit/configure/req', {}, { session_id: '', toolkit_name: '', config: {} }],
  ['toolkit/configure/resp', {}, { req_id: '', toolkit_name: '', status: 'ok', message: null }],
]);
