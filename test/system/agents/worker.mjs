/**
 * Sends `Hello world` in two pieces and returns nothing; `fail` throws; `hold` sends `begun` and waits to be stopped; `flood` sends 20 MB
 * before; `wait` sends the second piece when another request contains `go`.
 */
export default async function* worker({ params }, { signal }) {
  if (params.content === 'fail') throw Object.assign(new Error('it failed'), { code: 'FAILED' });
  if (params.content === 'hold') {
    yield 'begun';
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  if (params.content === 'flood') for (let piece = 0; piece < 2000; piece++) yield `${piece} `.padEnd(10_000, 'x');
  if (params.content === 'go') go();
  yield 'Hello';
  if (params.content === 'wait') await new Promise((resolve) => (go = resolve));
  yield ' world';
}

/** Lets the last `wait` request continue. */
let go = () => {};
