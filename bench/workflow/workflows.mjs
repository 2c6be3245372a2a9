// The workflows of the benchmark. Each is written out once; what is given makes it under a new id each time, so that writing is
// no part of what is measured.

/** Fetch a hundred rows, filter, sort. */
export function threeSteps(origin) {
  return repeated({
    fetch: { ApiCall: { method: 'GET', url: `${origin}/users`, outputPath: '/workflow/users' } },
    filter: {
      FilterData: {
        inputPath: '/workflow/users',
        conditions: [{ field: 'status', operator: '==', value: 'active' }],
        outputPath: '/workflow/active',
      },
    },
    sort: {
      TransformData: {
        inputPath: '/workflow/active',
        transform: 'sort',
        config: { field: 'points', order: 'desc' },
        outputPath: '/workflow/sorted',
      },
    },
  });
}

/** The given number of operations that do next to nothing. */
export function smallSteps(operations) {
  const time = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/n' } };
  const step = { Calculate: { inputPath: '/workflow/n', operation: 'abs', outputPath: '/workflow/m' } };
  const steps = Array.from({ length: operations }, (_, index) => [`step-${index}`, step]);
  return repeated({ time, ...Object.fromEntries(steps) });
}

let count = 0;

function repeated(operations) {
  const updates = Object.entries(operations)
    .map(([operationId, operation]) => JSON.stringify({ type: 'operationUpdate', operationId, operation }))
    .join('\n');
  const order = JSON.stringify(Object.keys(operations));
  return () => `${updates}\n{"type":"beginExecution","executionId":"bench-${count++}","operationOrder":${order}}`;
}
