// The workflows of the benchmark, each time under a new id.

/** Fetch a hundred rows, filter, sort. */
export function threeSteps(origin) {
  return lines({
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

/** As many operations as told that do next to nothing. */
export function smallSteps(operations) {
  const time = { GetCurrentDateTime: { format: 'timestamp', outputPath: '/workflow/n' } };
  const step = { Calculate: { inputPath: '/workflow/n', operation: 'abs', outputPath: '/workflow/m' } };
  const steps = Array.from({ length: operations }, (_, index) => [`step-${index}`, step]);
  return lines({ time, ...Object.fromEntries(steps) });
}

let count = 0;

function lines(operations) {
  const updates = Object.entries(operations).map(([operationId, operation]) =>
    JSON.stringify({ type: 'operationUpdate', operationId, operation }),
  );
  const executionId = `bench-${count++}`;
  const begin = { type: 'beginExecution', executionId, operationOrder: Object.keys(operations) };
  return [...updates, JSON.stringify(begin)].join('\n');
}
