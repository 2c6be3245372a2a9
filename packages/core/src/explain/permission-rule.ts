import { allows, entryFor, type Permissions } from '../call/principal.ts';

/** Which entry of a list of permissions allows a name now. */
export function permissionRule(permissions: Permissions, list: keyof Permissions, name: string): string {
  const entries = permissions[list];
  if (!allows(entries, name)) return `permissions.${list} does not have ${JSON.stringify(name)} any more`;
  return `permissions.${list} has ${JSON.stringify(entryFor(entries, name))}`;
}

/** A list of permissions as it is now, for a record that does not have the name that was checked. */
export function permissionList(permissions: Permissions, list: keyof Permissions): string {
  return `permissions.${list} has ${permissions[list].map((name) => JSON.stringify(name)).join(', ') || 'nothing'}`;
}

/** Permissions are not recorded with the requests that they allowed, so the current ones are shown. */
export const BY_PERMISSIONS_NOW = 'the permissions it has now';
