let calls = 0;

/** Calls itself through a workflow that it writes, until it is refused; `count` returns how often it was called. */
export default async function* circling({ params }, { tools }) {
  if (params.content === 'count') return { calls };
  calls += 1;
  const operation = { CallAgent: { agent: 'circling', message: 'again', outputPath: '/workflow/again' } };
  const workflow = [
    { type: 'operationUpdate', operationId: 'again', operation },
    { type: 'beginExecution', executionId: `circling-${calls}`, operationOrder: ['again'] },
  ];
  const { success, error } = await tools.call('workflow.execute', { workflow });
  return { success, error };
}
