/** Says `Hello world` in two pieces and returns nothing; `fail` throws; `hold` says `begun` and waits to be stopped. */
export default async function* worker({ params }, { signal }) {
  if (params.content === 'fail') throw Object.assign(new Error('it failed'), { code: 'FAILED' });
  if (params.content === 'hold') {
    yield 'begun';
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  yield 'Hello';
  yield ' world';
}
