/**
 * A buffer for data that arrives in pieces. Its capacity doubles when it is full, so that each byte is moved a
 * bounded number of times, and it does not retain the pieces.
 */
export class GrowingBytes {
  readonly #most: number;
  #room: Uint8Array = NOTHING;
  #length = 0;

  /** It accepts and allocates at most `most` bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes of memory held. */
  get capacity(): number {
    return this.#room.length;
  }

  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#most) throw new Error(`${length} bytes do not fit into ${this.#most}`);
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.min(Math.max(length, this.#room.length * 2, SMALLEST), this.#most));
      room.set(this.#room.subarray(0, this.#length));
      this.#room = room;
    }
    this.#room.set(bytes, this.#length);
    this.#length = length;
  }

  /** Returns the bytes so far, which then belong to the caller, and empties the buffer. */
  take(): Uint8Array {
    const bytes = this.#room.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#room = NOTHING;
    this.#length = 0;
  }
}

const NOTHING = new Uint8Array(0);
const SMALLEST = 256;
