/** Rows of bits, 32 to a word: one for each of many things, in an order that all rows share. This one has none set. */
export function emptyRow(things: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(Math.ceil(things / 32 / BLOCK) * BLOCK);
}

/**
 * How many bits two rows have in common. This is where the time goes that grows with the number of agents, so eight words are
 * added up bit by bit first, as full adders would, and the bits of one word counted instead of eight (Harley and Seal).
 */
export function countCommon(a: Uint32Array, b: Uint32Array): number {
  let ones = 0;
  let twos = 0;
  let fours = 0;
  let eights = 0;
  for (let word = 0; word < a.length; word += BLOCK) {
    const w0 = (a[word] as number) & (b[word] as number);
    const w1 = (a[word + 1] as number) & (b[word + 1] as number);
    const w2 = (a[word + 2] as number) & (b[word + 2] as number);
    const w3 = (a[word + 3] as number) & (b[word + 3] as number);
    const w4 = (a[word + 4] as number) & (b[word + 4] as number);
    const w5 = (a[word + 5] as number) & (b[word + 5] as number);
    const w6 = (a[word + 6] as number) & (b[word + 6] as number);
    const w7 = (a[word + 7] as number) & (b[word + 7] as number);
    let half = ones ^ w0;
    const twoA = (ones & w0) | (half & w1);
    ones = half ^ w1;
    half = ones ^ w2;
    const twoB = (ones & w2) | (half & w3);
    ones = half ^ w3;
    half = ones ^ w4;
    const twoC = (ones & w4) | (half & w5);
    ones = half ^ w5;
    half = ones ^ w6;
    const twoD = (ones & w6) | (half & w7);
    ones = half ^ w7;
    half = twos ^ twoA;
    const fourA = (twos & twoA) | (half & twoB);
    twos = half ^ twoB;
    half = twos ^ twoC;
    const fourB = (twos & twoC) | (half & twoD);
    twos = half ^ twoD;
    half = fours ^ fourA;
    eights += countBits((fours & fourA) | (half & fourB));
    fours = half ^ fourB;
  }
  return 8 * eights + 4 * countBits(fours) + 2 * countBits(twos) + countBits(ones);
}

export function countAll(row: Uint32Array): number {
  return row.reduce((sum, bits) => sum + countBits(bits), 0);
}

export function setBit(row: Uint32Array, place: number, isSet: boolean): void {
  const word = place >>> 5;
  const bit = 1 << (place & 31);
  row[word] = isSet ? (row[word] ?? 0) | bit : (row[word] ?? 0) & ~bit;
}

export function isSet(row: Uint32Array, place: number): boolean {
  return ((row[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0;
}

export function both(one: Uint32Array, other: Uint32Array): Uint32Array {
  return one.map((bits, word) => bits & (other[word] ?? 0));
}

/** The place of the lowest bit that is set in a word. */
export function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

function countBits(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Words that are counted at once; rows are as many blocks long as it takes. */
const BLOCK = 8;
