/** Begins well and fails half-way, with an error code of its own. */
export default async function* failing() {
  yield 'So far, ';
  yield 'so good. ';
  throw Object.assign(new Error('This agent always fails half-way; that is what it is for.'), {
    code: 'DEMO.HALF_WAY',
  });
}
