/** Knows when the office opens. */
export default async function* clerk() {
  return { content: 'At nine.' };
}
