/** The demo's workflows by file name. They call the demo API at `apiUrl`. */
export function demoWorkflows(apiUrl: string): Readonly<Record<string, string>> {
  const get = (path: string, outputPath: string, more: object = {}) => ({
    ApiCall: { method: 'GET', url: `${apiUrl}${path}`, outputPath, ...more },
  });
  return {
    'active-users.jsonl': lines('active-users', {
      'fetch-users': get('/users', '/workflow/users'),
      'filter-active': {
        FilterData: {
          inputPath: '/workflow/users',
          conditions: [{ field: 'status', operator: '==', value: 'active' }],
          outputPath: '/workflow/active',
        },
      },
      'sort-by-points': {
        TransformData: {
          inputPath: '/workflow/active',
          transform: 'sort',
          config: { field: 'points', order: 'desc' },
          outputPath: '/workflow/sorted',
        },
      },
    }),
    'order-totals.jsonl': lines('order-totals', {
      'fetch-orders': get('/orders', '/workflow/orders', {
        headers: { 'X-API-Key': { credentialRef: { id: DEMO_CREDENTIAL } } },
      }),
      total: {
        TransformData: {
          inputPath: '/workflow/orders',
          transform: 'aggregate',
          config: { field: 'total', operation: 'sum' },
          outputPath: '/workflow/total',
        },
      },
      keep: { StoreData: { inputPath: '/workflow/total', storage: 'localStorage', key: 'order-total' } },
    }),
    'flaky-and-slow.jsonl': lines('flaky-and-slow', {
      flaky: get('/flaky', '/workflow/luck'),
      pause: { Wait: { duration: 1000 } },
      slow: get('/slow', '/workflow/slow'),
    }),
  };
}

function lines(executionId: string, operations: Readonly<Record<string, object>>): string {
  const updates = Object.entries(operations).map(([operationId, operation]) => ({
    type: 'operationUpdate',
    operationId,
    operation,
  }));
  const begin = { type: 'beginExecution', executionId, operationOrder: Object.keys(operations) };
  return [...updates, begin].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The id of the credential for the demo's orders. */
export const DEMO_CREDENTIAL = 'demo-orders';
