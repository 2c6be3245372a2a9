// An agent that asks before it does what cannot be undone. It waits for the answer; its deadline stands still in the meantime.
export default async function* cleaner({ params }, call) {
  yield `Found ${params.content}. `;
  const answer = await call.ask({
    kind: 'permission',
    title: `Delete ${params.content}?`,
    description: 'They cannot be restored.',
    expires_in_ms: 60_000,
  });
  const isAllowed = answer.option_id === 'allow';
  yield isAllowed ? 'Deleted.' : 'Left alone.';
  return { deleted: isAllowed, decided_by: answer.by };
}
