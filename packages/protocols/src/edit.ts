import { isObject, type Json } from './json.ts';
import { segmentsOf } from './pointer.ts';

/** Changes by pointer: a new value, or `undefined` to remove it. */
export type Edits = ReadonlyMap<string, Json | undefined>;

/** The value with all edits applied. Changed parts are copied, the rest is shared. */
export function edited(json: Json, edits: Edits): Json {
  const root: Branch = { children: new Map() };
  for (const [pointer, value] of edits) {
    let branch = root;
    for (const segment of segmentsOf(pointer)) {
      const child = branch.children.get(segment) ?? { children: new Map() };
      branch.children.set(segment, child);
      branch = child;
    }
    branch.edit = { value };
  }
  return grown(json, root) ?? null;
}

interface Branch {
  readonly children: Map<string, Branch>;
  edit?: { readonly value: Json | undefined };
}

function grown(value: Json, branch: Branch | undefined): Json | undefined {
  if (branch === undefined) return value;
  if (branch.edit !== undefined) return branch.edit.value;
  if (Array.isArray(value)) return value.map((item, index) => grown(item, branch.children.get(String(index))) ?? null);
  if (!isObject(value)) return value;
  const members: [string, Json][] = [];
  for (const [key, member] of Object.entries(value)) {
    const after = grown(member, branch.children.get(key));
    if (after !== undefined) members.push([key, after]);
  }
  return Object.fromEntries(members);
}
