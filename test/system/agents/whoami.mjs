/** Returns the caller that the server names, and how often it sent the same content. */
const counts = new Map();

export default async function* whoami({ params }, { principal }) {
  const count = (counts.get(params.content) ?? 0) + 1;
  counts.set(params.content, count);
  return { caller: principal.id, asked: count };
}
