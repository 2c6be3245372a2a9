/** Encodes an array in PostgreSQL's binary format, in which elements need no escaping. */
export function texts(values: readonly (string | null)[]): Buffer {
  const lengths = values.map((value) => (value === null ? 0 : Buffer.byteLength(value)));
  const buffer = arrayOf(TEXT, lengths, values.includes(null));
  let at = HEADER;
  for (const [index, value] of values.entries()) {
    const length = lengths[index] ?? 0;
    at = buffer.writeInt32BE(value === null ? -1 : length, at);
    if (value !== null) at += buffer.write(value, at, length);
  }
  return buffer.subarray(0, at);
}

export function bigints(values: readonly (number | null)[]): Buffer {
  const buffer = arrayOf(INT8, new Array(values.length).fill(8), values.includes(null));
  let at = HEADER;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? -1 : 8, at);
    if (value !== null) at = buffer.writeBigInt64BE(BigInt(value), at);
  }
  return buffer.subarray(0, at);
}

export function integers(values: readonly (number | null)[]): Buffer {
  const buffer = arrayOf(INT4, new Array(values.length).fill(4), values.includes(null));
  let at = HEADER;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? -1 : 4, at);
    if (value !== null) at = buffer.writeInt32BE(value, at);
  }
  return buffer.subarray(0, at);
}

export function byteStrings(values: readonly (Uint8Array | null)[]): Buffer {
  const buffer = arrayOf(
    BYTEA,
    values.map((value) => value?.length ?? 0),
    values.includes(null),
  );
  let at = HEADER;
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? -1 : value.length, at);
    if (value === null) continue;
    buffer.set(value, at);
    at += value.length;
  }
  return buffer.subarray(0, at);
}

/**
 * Allocates an array with one dimension and the lower bound 1, and writes its header. The caller writes the length and
 * the bytes of each element.
 */
function arrayOf(type: number, lengths: readonly number[], hasNull: boolean): Buffer {
  const buffer = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + 4 + length, HEADER));
  for (const [index, value] of [1, hasNull ? 1 : 0, type, lengths.length, 1].entries()) {
    buffer.writeInt32BE(value, 4 * index);
  }
  return buffer;
}

const HEADER = 20;
const BYTEA = 17;
const INT8 = 20;
const INT4 = 23;
const TEXT = 25;
