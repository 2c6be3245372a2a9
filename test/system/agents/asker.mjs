// Asks what it is sent to ask, and reports the answer.
export default async function* (envelope, call) {
  yield 'one moment';
  const { question, content, data = [] } = envelope.params;
  const given = question ?? content?.question ?? data[0]?.question;
  const answer = await call.ask(given ?? { kind: 'permission', title: 'May I?' });
  yield `answered: ${answer.option_id ?? answer.action}`;
  return { answer };
}
