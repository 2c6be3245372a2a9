/** Resolves when all promises that are ready now have been handled, including those that become ready in the meantime. */
export async function afterPromises(): Promise<void> {
  // Within a promise callback, `nextTick` runs after all ready promises; outside of one, it would run before them.
  await undefined;
  await new Promise(process.nextTick);
}
