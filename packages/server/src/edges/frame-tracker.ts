/**
 * Follows the frames of a WebSocket byte by byte, far enough to know whether a message is incomplete. The WebSocket
 * library reports only whole messages, and a peer could keep one open forever. Also unmasks long frames as their bytes
 * arrive, because the library would unmask a complete frame in one go and block the event loop.
 */
export class FrameTracker {
  /** When the incomplete message or control frame began; `undefined` between messages. */
  since: number | undefined;
  /**
   * The announced length of the current message's frames so far, including bytes that have not arrived. 0 between
   * messages.
   */
  messageBytes = 0;
  /** The memory that the library uses for the current message. 0 between messages. */
  heldBytes = 0;
  readonly #header = new Uint8Array(LONGEST_HEADER);
  #have = 0;
  #need = 2;
  #payloadLeft = 0;
  /** Whether the next data frame continues a fragmented message. */
  #inMessage = false;

  /**
   * Must be called before the library reads the chunk. Changes the chunk: unmasks the payload of a long frame, and sets
   * its mask to zero.
   */
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

  /** Restarts the time of an incomplete message after reading was paused. */
  readOn(now: number): void {
    if (this.since !== undefined) this.since = now;
  }

  get #isControl(): boolean {
    const [first = 0] = this.#header;
    return (first & 0x08) !== 0;
  }

  /** Whether the frame is masked and has the long header, which payloads of more than 65,535 bytes have. */
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

/** The header has two bytes, the extended length and the mask (RFC 6455 §5.2). */
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

/** Two bytes, eight bytes of length, and the mask. */
const LONGEST_HEADER = 14;
const MASK_AT = 10;
/** The memory overhead of a chunk: the library keeps each in its own buffer. */
const CHUNK_BYTES = 128;
