import { isObject, parseJson } from '@dragoman/protocols';

/** Where a list over several servers continues: the cursor of each that has more, by its name. */
export type Cursors = ReadonlyMap<string, string>;

/** Empty at the end of the list. */
export function cursorText(cursors: Cursors): string {
  if (cursors.size === 0) return '';
  return Buffer.from(JSON.stringify(Object.fromEntries(cursors))).toString('base64url');
}

/** `undefined` for a text that `cursorText` did not make. */
export function cursorsIn(text: string): Cursors | undefined {
  const json = parseJson(Buffer.from(text, 'base64url').toString());
  if (!json.ok || !isObject(json.value)) return undefined;
  const cursors = Object.entries(json.value);
  return cursors.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? new Map(cursors)
    : undefined;
}
