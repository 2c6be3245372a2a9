/** Echoes `params.content` in one frame, unchanged. */
export default async function* parrot({ params }) {
  yield String(params.content ?? '');
}
