/** Whether an object has no members. Runs for every request and every frame, so the members are not listed. */
export function hasNoMembers(object: object | undefined): boolean {
  for (const _ in object) return false;
  return true;
}
