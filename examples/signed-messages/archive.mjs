/** Keeps notes and returns the caller's name, which a signature proves. */
const notes = new Map();

export default async function* archive({ method, params, source_agent_id }) {
  if (method === 'keep') notes.set(params.title, { text: params.text, by: source_agent_id });
  return { notes: notes.size, ...(notes.get(params.title) ?? {}) };
}
