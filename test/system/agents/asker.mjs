// Asks what it is sent to ask, and reports the answer.
export default async function* (envelope, call) {
  yield 'one moment';
  const answer = await call.ask(envelope.params.question ?? envelope.params.content?.question ?? { kind: 'permission', title: 'May I?' });
  yield `answered: ${answer.option_id ?? answer.action}`;
  return { answer };
}
