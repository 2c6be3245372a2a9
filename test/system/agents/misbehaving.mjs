/** Breaks the rules of an agent in the way that `params.how` names. */
export default async function* misbehaving({ params }) {
  yield 'before';
  if (params.how === 'throws') throw Object.assign(new Error('out of paper'), { code: 'PRINTER.EMPTY' });
  if (params.how === 'ends twice') {
    yield { response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result: { first: true } } };
    yield { response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result: { second: true } } };
  }
  if (params.how === 'counts backwards')
    yield { response_kind: 'e2a.chunk', sequence: -7, body: { delta_kind: 'text', delta: 'x' } };
  if (params.how === 'talks nonsense') yield 42;
  return { ended: true };
}
