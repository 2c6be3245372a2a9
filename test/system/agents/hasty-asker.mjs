/** Asks for a permission that is soon too late to give. */
export default async function* (_envelope, call) {
  const answer = await call.ask({ kind: 'permission', title: 'Quick?', expires_in_ms: 100 });
  yield `answered: ${answer.option_id ?? answer.action}`;
}
