/** Begins well and fails half-way, with its own error code. */
export default async function* failing() {
  yield 'So far, ';
  yield 'so good. ';
  throw Object.assign(new Error('This agent always fails half-way; that is what it is for.'), {
    code: 'DEMO.HALF_WAY',
  });
}
