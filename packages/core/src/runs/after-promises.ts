/** Resolves when the promises that are ready now have had their turn, and those that became ready by that. */
export async function afterPromises(): Promise<void> {
  // Asked for outside of any promise's turn, the next tick comes before the first of them.
  await undefined;
  await new Promise(process.nextTick);
}
