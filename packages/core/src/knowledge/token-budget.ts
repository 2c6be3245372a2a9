import type { Json, JsonObject } from '@dragoman/protocols';

/** Keeps as much of the hits, best first, as fits; one that does not fit is shortened, then left out. */
export function withinBudget<Hit extends JsonObject>(
  hits: readonly { readonly whole: Hit; readonly short: Hit }[],
  budget: number,
): { readonly kept: Hit[]; readonly tokens: number } {
  const kept: Hit[] = [];
  let tokens = 0;
  for (const { whole, short } of hits) {
    const form = [whole, short].find((each) => tokens + tokensOf(each) <= budget);
    if (form === undefined) break;
    kept.push(form);
    tokens += tokensOf(form);
  }
  return { kept, tokens };
}

/** About: a token of the models in use is four characters of English or JSON. */
function tokensOf(json: Json): number {
  return Math.ceil(JSON.stringify(json).length / 4);
}
