/**
 * Follows the frames of a WebSocket byte by byte, far enough to know whether a message is incomplete: the
 * WebSocket library reports only whole messages, and a peer could keep one open forever.
 *
 * Unmasks long frames as their bytes arrive. The library does so when a frame is complete, in one go, and blocks the event loop
 * for tens of milliseconds.
 */
export class FrameTracker {
  /** When the message or control frame that is not complete began; `undefined` between messages. */
  since: number | undefined;
  /** The announced length of its frames so far, even if their bytes are still missing. 0 between messages. */
  messageBytes = 0;
  /** Memory that the library uses for it. 0 between messages. */
  heldBytes = 0;
  readonly #header = new Uint8Array(LONGEST_HEADER);
  #have = 0;
  #need = 2;
  #payloadLeft = 0;
  /** Between the first fragment of a message and its last. */
  #inMessage = false;

  /** Called before the library has the chunk. The mask of a long frame becomes zero in it, and the payload is unmasked. */
  feed(chunk: Uint8Array, now: number): void {
    let at = 0;
    while (at < chunk.length) {
      this.since ??= now;
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, chunk.length - at);
        if (this.#isLong) this.#unmask(chunk.subarray(at, at + taken));
        this.#payloadLeft -= taken;
        this.heldBytes += taken;
        at += taken;
        if (this.#payloadLeft === 0) this.#endFrame();
        continue;
      }
      this.#header[this.#have++] = chunk[at] ?? 0;
      if (this.#isLong && this.#have > MASK_AT) chunk[at] = 0;
      at += 1;
      if (this.#have === 2) this.#need = headerLength(this.#header);
      if (this.#have < this.#need) continue;
      this.#payloadLeft = payloadLength(this.#header);
      if (!this.#isControl) this.messageBytes += this.#payloadLeft;
      if (this.#payloadLeft === 0) this.#endFrame();
    }
    if (this.since !== undefined) this.heldBytes += CHUNK_BYTES;
  }

  /** Reading continues after a pause, in which an incomplete message could not end. */
  readOn(now: number): void {
    if (this.since !== undefined) this.since = now;
  }

  get #isControl(): boolean {
    const [first = 0] = this.#header;
    return (first & 0x08) !== 0;
  }

  /** Masked, and with the header that only a payload of more than 65,535 bytes needs. */
  get #isLong(): boolean {
    return this.#need === LONGEST_HEADER;
  }

  #unmask(bytes: Uint8Array): void {
    const mask = this.#header.subarray(MASK_AT);
    const position = payloadLength(this.#header) - this.#payloadLeft;
    for (let at = 0; at < bytes.length; at++) bytes[at] = (bytes[at] ?? 0) ^ (mask[(position + at) & 3] ?? 0);
  }

  #endFrame(): void {
    const [first = 0] = this.#header;
    if (!this.#isControl) this.#inMessage = (first & 0x80) === 0;
    if (!this.#inMessage) {
      this.since = undefined;
      this.messageBytes = 0;
      this.heldBytes = 0;
    }
    this.#have = 0;
    this.#need = 2;
  }
}

/** RFC 6455 §5.2: two bytes, the extended length, the mask. */
function headerLength(header: Uint8Array): number {
  const [, second = 0] = header;
  const length = second & 0x7f;
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4);
}

function payloadLength(header: Uint8Array): number {
  const [, second = 0] = header;
  const length = second & 0x7f;
  if (length < 126) return length;
  const view = new DataView(header.buffer);
  return length === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
}

/** Two bytes, a length of eight, and the mask behind them. */
const LONGEST_HEADER = 14;
const MASK_AT = 10;
/** The memory overhead of a chunk: the library keeps each in its own buffer. */
const CHUNK_BYTES = 128;
