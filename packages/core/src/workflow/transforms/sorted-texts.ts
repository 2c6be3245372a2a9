import { byDigits, type Keyed, MANY, type Places } from './radix.ts';

/**
 * Places in the order of their texts, by code units; equal texts keep their given order. A few texts are compared. Many
 * are radix-sorted by the code units that follow their common beginning, as many as fit into a key; only texts with
 * equal keys are then sorted further.
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
  const keys = keysOf(texts, places, { from: start, descending });
  const sorted = byDigits(keys);
  const order = { from: start + keys.width, descending };
  for (let first = 0; first < places.length; ) {
    const next = endOfEquals(sorted, first);
    if (next - first > 1 && !keys.isWhole(sorted.low[first] as number)) {
      if (next - first <= FEW) insert(texts, sorted.places, { first, next, descending });
      else sorted.places.set(settled(texts, sorted.places.subarray(first, next), order), first);
    }
    first = next;
  }
  return sorted.places;
}

/** Insertion sort of a few places, in place. */
function insert(
  texts: readonly string[],
  places: Places,
  { first, next, descending }: { first: number; next: number; descending: boolean },
): void {
  for (let at = first + 1; at < next; at++) {
    const place = places[at] as number;
    const text = texts[place] as string;
    let to = at;
    for (; to > first; to--) {
      const before = texts[places[to - 1] as number] as string;
      if (descending ? before >= text : before <= text) break;
      places[to] = places[to - 1] as number;
    }
    places[to] = place;
  }
}

/** Sorts the places of texts that are equal so far. */
function settled(texts: readonly string[], places: Places, order: Order): Places {
  const first = texts[places[0] as number] as string;
  if (places.every((place) => texts[place] === first)) return places;
  // A key pads a text that has ended with zeros, so it looks like one that continues with U+0000. Such texts are
  // compared.
  const goOn = places.length >= MANY && places.every((place) => (texts[place] as string).length >= order.from);
  return goOn ? sortedFrom(texts, places, order) : compared(texts, places, order.descending);
}

/** How far all texts are the same, and whether all of them end there. */
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

interface Keys extends Keyed {
  /** The number of code units in a key. */
  readonly width: number;
  /** Whether the key with this lower half contains the whole text; then equal keys mean equal texts. */
  isWhole(low: number): boolean;
}

/**
 * Packs eight code units of one byte each into a key, or four of two bytes if there are larger ones. A text that has
 * ended is padded with zeros.
 */
function keysOf(texts: readonly string[], places: Places, order: Order): Keys {
  const keys = packed(texts, places, order, 8) ?? packed(texts, places, order, 16);
  if (keys === undefined) throw new Error('a code unit has sixteen bits');
  return keys;
}

function packed(texts: readonly string[], places: Places, { from, descending }: Order, bits: 8 | 16): Keys | undefined {
  const high = new Uint32Array(places.length);
  const low = new Uint32Array(places.length);
  const turned = descending ? 0xffffffff : 0;
  const half = 32 / bits;
  const largest = 2 ** bits - 1;
  let hasZero = false;
  for (let each = 0; each < places.length; each++) {
    const text = texts[places[each] as number] as string;
    const many = Math.min(text.length - from, 2 * half);
    let upper = 0;
    let lower = 0;
    for (let at = 0; at < many; at++) {
      const unit = text.charCodeAt(from + at);
      if (unit > largest) return undefined;
      hasZero ||= unit === 0;
      if (at < half) upper |= unit << (32 - bits * (at + 1));
      else lower |= unit << (32 - bits * (at - half + 1));
    }
    high[each] = upper ^ turned;
    low[each] = lower ^ turned;
  }
  const isWhole = (key: number) => !hasZero && ((key ^ turned) & largest) === 0;
  return { high, low, places, width: 2 * half, isWhole };
}

function endOfEquals({ low, high }: Keyed, first: number): number {
  let next = first + 1;
  while (next < low.length && low[next] === low[first] && high[next] === high[first]) next++;
  return next;
}

const FEW = 16;
