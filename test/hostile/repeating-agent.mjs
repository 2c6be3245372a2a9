/** Repeats what its caller sent along to prove itself: as it is, coded, as a name, in an error, over and over. */
export default async function* repeat({ auth, params }, call) {
  const token = auth?.bearer_token ?? '';
  const headers = auth?.extra_headers ?? {};
  if (params.fails === true) {
    const error = new Error(`401: the token ${token} was refused`);
    call.log.warn({ error, message: error.message }, `asking again with ${token}`);
    throw error;
  }
  yield `I was sent ${token} and ${JSON.stringify(headers)}`;
  yield Buffer.from(`user:${token}`).toString('base64').replace(/.{10}/g, '$&\n');
  yield [...token].map((character) => `&#${character.charCodeAt(0)};`).join('');
  return { auth, [token]: 'as a name', hex: Buffer.from(token).toString('hex'), short: headers['x-short'] };
}
