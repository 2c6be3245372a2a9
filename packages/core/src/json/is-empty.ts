/** Whether an object has no members. Asked of every request and every frame, so they are not listed to find out. */
export function hasNoMembers(object: object | undefined): boolean {
  for (const _ in object) return false;
  return true;
}
