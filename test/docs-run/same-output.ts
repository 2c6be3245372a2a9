import { isObject, type Json, parseJson } from '../../packages/protocols/src/json.ts';

/** Why what was printed is not what the page shows; `undefined` when it is. */
export function differenceInText(shown: string, printed: string): string | undefined {
  const pattern = shown
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === ANYTHING ? ANY_LINES : `${line.split(ANYTHING).map(escaped).join('.*?')}\\n`))
    .join('');
  const isSame = new RegExp(`^${pattern}$`).test(`${printed.trimEnd()}\n`);
  return isSame ? undefined : `the page shows\n${shown}\nbut it printed\n${printed}`;
}

/** The same for JSON. */
export function differenceInJson(shown: string, printed: string): string | undefined {
  const [expected, actual] = [parseJson(shown), parseJson(printed.trim())];
  if (!expected.ok) return `the page shows no JSON:\n${shown}`;
  if (!actual.ok) return `it printed no JSON:\n${printed}`;
  const place = firstDifference(expected.value, actual.value, '');
  return place === undefined
    ? undefined
    : `it differs at ${place || 'the top'}:\n${JSON.stringify(actual.value, null, 2)}`;
}

function firstDifference(shown: Json | undefined, printed: Json | undefined, at: string): string | undefined {
  if (shown === ANYTHING) return printed === undefined ? at : undefined;
  if (typeof shown === 'string' && typeof printed === 'string') {
    return differenceInText(shown, printed) === undefined ? undefined : at;
  }
  if (Array.isArray(shown) && Array.isArray(printed)) {
    if (shown.length !== printed.length) return `${at} (${printed.length} items)`;
    return firstOf(shown.map((item, index) => firstDifference(item, printed[index], `${at}/${index}`)));
  }
  if (isObject(shown) && isObject(printed)) {
    const { [ANYTHING]: more, ...members } = shown;
    const names = more === undefined ? Object.keys({ ...members, ...printed }) : Object.keys(members);
    return firstOf(names.map((name) => firstDifference(members[name], printed[name], `${at}/${name}`)));
  }
  return shown === printed ? undefined : at;
}

function firstOf(places: readonly (string | undefined)[]): string | undefined {
  return places.find((place) => place !== undefined);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

const ANYTHING = '…';
const ANY_LINES = '(?:.*\\n)*?';
