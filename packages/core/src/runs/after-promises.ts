/** Resolves when all promises that are ready now have been handled, including those that become ready in the meantime. */
export async function afterPromises(): Promise<void> {
  // Outside of a promise callback, the next tick would run before the first of them.
  await undefined;
  await new Promise(process.nextTick);
}
