/** Tells who the server says is calling, and how often it was asked the same. */
const asked = new Map();

export default async function* whoami({ params }, { principal }) {
  const count = (asked.get(params.content) ?? 0) + 1;
  asked.set(params.content, count);
  return { caller: principal.id, asked: count };
}
