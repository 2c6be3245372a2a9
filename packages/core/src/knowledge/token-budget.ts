import type { Json, JsonObject } from '@dragoman/protocols';

/** Keeps the best hits that fit, the last of them in short form if necessary. The others are left out. */
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

/** An estimate: a token of common models is about four characters of English or JSON. */
function tokensOf(json: Json): number {
  return Math.ceil(JSON.stringify(json).length / 4);
}
