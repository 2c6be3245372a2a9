import { byDigits, type Keyed, MANY, type Places } from './radix.ts';

/**
 * Places in the order of their texts, by code units; equal texts keep the order they are given in. Few are compared. Many go
 * by what stands behind the beginning they all share: as much of it as fits into a number is sorted by digits, and only
 * those that are equal so far are looked at further. So it takes about the same for each, however many there are.
 */
export function sortedTexts(texts: readonly string[], places: Places, descending: boolean): Places {
  return places.length < MANY
    ? compared(texts, places, descending)
    : sortedFrom(texts, places, { from: 0, descending });
}

function compared(texts: readonly string[], places: Places, descending: boolean): Places {
  if (places.length < 2) return places;
  const list = Array.from(places);
  const [before, after] = descending ? [1, -1] : [-1, 1];
  list.sort((one, other) => {
    const [a, b] = [texts[one] as string, texts[other] as string];
    return a < b ? before : a > b ? after : 0;
  });
  return Uint32Array.from(list);
}

interface Order {
  /** All texts are the same up to here. */
  readonly from: number;
  readonly descending: boolean;
}

function sortedFrom(texts: readonly string[], places: Places, { from, descending }: Order): Places {
  const { start, isEnd } = shared(texts, places, from);
  if (isEnd) return places;
  const { keyed, width } = keysOf(texts, places, { from: start, descending });
  const sorted = byDigits(keyed);
  for (let first = 0; first < places.length; ) {
    const next = endOfEquals(sorted, first);
    if (next - first > 1) {
      const equals = sorted.places.subarray(first, next);
      sorted.places.set(settled(texts, equals, { from: start + width, descending }), first);
    }
    first = next;
  }
  return sorted.places;
}

/** Those that are the same so far, as far as digits tell. Often they are the same to the end, and there is nothing to do. */
function settled(texts: readonly string[], places: Places, order: Order): Places {
  const first = texts[places[0] as number] as string;
  if (places.every((place) => texts[place] === first)) return places;
  // One that has ended looks as if it went on with U+0000, and some may really do so.
  const goOn = places.length >= MANY && places.every((place) => (texts[place] as string).length >= order.from);
  return goOn ? sortedFrom(texts, places, order) : compared(texts, places, order.descending);
}

/** How far all texts are the same, and whether they end there, all of them. */
function shared(texts: readonly string[], places: Places, from: number): { start: number; isEnd: boolean } {
  const first = texts[places[0] as number] as string;
  let start = first.length;
  let isEnd = true;
  for (let each = 1; each < places.length; each++) {
    const text = texts[places[each] as number] as string;
    const most = Math.min(start, text.length);
    let at = from;
    while (at < most && text.charCodeAt(at) === first.charCodeAt(at)) at++;
    isEnd &&= text.length === first.length;
    start = at;
  }
  return { start, isEnd: isEnd && start === first.length };
}

/** Eight code units of one byte each, or four of two where there are larger ones. A text that has ended counts as zeros. */
function keysOf(texts: readonly string[], places: Places, order: Order): { keyed: Keyed; width: number } {
  const narrow = packed(texts, places, order, 8);
  if (narrow !== undefined) return { keyed: narrow, width: 8 };
  const wide = packed(texts, places, order, 16);
  if (wide === undefined) throw new Error('a code unit has sixteen bits');
  return { keyed: wide, width: 4 };
}

function packed(
  texts: readonly string[],
  places: Places,
  { from, descending }: Order,
  bits: 8 | 16,
): Keyed | undefined {
  const high = new Uint32Array(places.length);
  const low = new Uint32Array(places.length);
  const turned = descending ? 0xffffffff : 0;
  const half = 32 / bits;
  const largest = 2 ** bits - 1;
  for (let each = 0; each < places.length; each++) {
    const text = texts[places[each] as number] as string;
    const length = text.length - from;
    let upper = 0;
    let lower = 0;
    const many = Math.min(length, 2 * half);
    for (let at = 0; at < many; at++) {
      const unit = text.charCodeAt(from + at);
      if (unit > largest) return undefined;
      if (at < half) upper |= unit << (32 - bits * (at + 1));
      else lower |= unit << (32 - bits * (at - half + 1));
    }
    high[each] = upper ^ turned;
    low[each] = lower ^ turned;
  }
  return { high, low, places };
}

function endOfEquals({ low, high }: Keyed, first: number): number {
  let next = first + 1;
  while (next < low.length && low[next] === low[first] && high[next] === high[first]) next++;
  return next;
}
