// Answers with as many words as the message has as its text.
export default async function* words(envelope) {
  const count = Number(envelope.params.content);
  for (let done = 0; done < count; done++) yield 'word ';
}
