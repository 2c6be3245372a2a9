/** Says `params.content` back in one frame, to the letter. */
export default async function* parrot({ params }) {
  yield String(params.content ?? '');
}
