/** Places an order at an API. Not idempotent, and not declared as such. */
export const order = {
  name: 'order',
  description: 'Places an order.',
  input: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  async run({ url }) {
    const response = await fetch(url, { method: 'POST' });
    return response.json();
  },
};
