/** Gives back the envelope it was given, as the result, after a word. */
export default async function* reporter(envelope) {
  yield 'seen';
  return { envelope };
}
