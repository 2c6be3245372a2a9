// Asks what it is sent to ask, and reports the answer.
export default async function* (envelope, call) {
  yield 'one moment';
  const { question, data = [] } = envelope.params;
  const answer = await call.ask(question ?? data[0]?.question ?? { kind: 'permission', title: 'May I?' });
  yield `answered: ${answer.option_id ?? answer.action}`;
  return { answer };
}
