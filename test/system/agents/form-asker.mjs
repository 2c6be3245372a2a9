/** Asks for a name, and greets it. */
export default async function* (_envelope, call) {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const { action, content } = await call.ask({ kind: 'form', title: 'What is your name?', schema });
  yield action === 'accept' ? `Hello ${content.name}` : `It was ${action}`;
}
