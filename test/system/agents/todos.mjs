/** Sends its list of things to do as it grows: the words of `params.content`. */
export default async function* todos(envelope) {
  const words = String(envelope.params.content).split(' ').filter(Boolean);
  for (let count = 1; count <= words.length; count += 1) {
    const delta = { event_type: 'todo.updated', todos: words.slice(0, count) };
    yield { delta_kind: 'custom', event_type: 'todo.updated', delta };
    yield 'working';
  }
  return { done: true };
}
