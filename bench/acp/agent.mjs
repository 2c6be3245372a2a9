// Sends the number of words that the prompt names.
export default async function* words({ params }) {
  for (let count = 0; count < Number(params.content); count++) yield 'word ';
  return {};
}
