/** Says what was said before in the conversation, a line for each. */
export default async function* historian(_, call) {
  const said = await call.history();
  yield said.map(({ role, content }) => `${role}: ${content}`).join('\n');
}
