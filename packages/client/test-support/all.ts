/** Everything that a stream returns. */
export async function all<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of stream) found.push(item);
  return found;
}
