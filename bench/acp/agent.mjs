// Says as many words as the prompt asks for.
export default async function* words({ params }) {
  for (let count = 0; count < Number(params.content); count++) yield 'word ';
  return {};
}
