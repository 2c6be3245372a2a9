/** Sends two words and has no result of its own. */
export default async function* words() {
  yield 'one ';
  yield 'two';
}
