/** Returns the earlier messages of the conversation, a line for each. */
export default async function* historian(_, call) {
  const history = await call.history();
  yield history.map(({ role, content }) => `${role}: ${content}`).join('\n');
}
