/**
 * Restores the repeated parts that an earlier version left out of a result. `repeats` has three numbers for each such
 * part: how many characters of the text are between the previous part and this one; how far before this place the
 * repeated text begins; and its length. Numbers are in base 32, the least digit first: `0` … `O` is the last digit, `P`
 * … `o` one that another digit follows.
 */
export function withRepeats(text: string, repeats: string): string {
  const numbers = [...repeats.matchAll(/[P-o]*[0-O]/g)].map(([digits]) => numberOf(digits));
  let whole = '';
  let at = 0;
  for (let index = 0; index < numbers.length; index += 3) {
    const [before = 0, back = 0, length = 0] = numbers.slice(index, index + 3);
    const place = at + before;
    whole += text.slice(at, place) + text.slice(place - back, place - back + length);
    at = place;
  }
  return whole + text.slice(at);
}

function numberOf(digits: string): number {
  return [...digits].reduceRight((number, digit) => number * 32 + ((digit.charCodeAt(0) - 48) % 32), 0);
}
