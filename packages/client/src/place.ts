import { type E2AResponse, FrameOrder, isKeepalive, isServerPush, newResponse } from '@dragoman/protocols';
import { DragomanError } from './dragoman-error.ts';

/** The position of the reader of one answer. It accepts every frame exactly once and in order. */
export class Place {
  readonly #order: FrameOrder;
  readonly #requestId: string;
  readonly #finalOnly: boolean;
  #after: number;
  #isAtEnd = false;

  constructor({ requestId, after = -1, finalOnly = false }: PlaceOptions) {
    this.#order = new FrameOrder(requestId);
    this.#requestId = requestId;
    this.#finalOnly = finalOnly;
    this.#after = after;
    // The order starts at 0, so a frame with the given sequence is fed to it. Other faults of this frame are ignored.
    if (after >= 0) this.#order.receive(newResponse({ request_id: requestId, sequence: after }));
  }

  /** The sequence of the last accepted frame; -1 before the first. */
  get after(): number {
    return this.#after;
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /**
   * Whether the frame is the reader's next one. `false` for a repeated frame, and for a frame that is not part of the
   * answer.
   */
  takes(frame: E2AResponse): boolean {
    if (isKeepalive(frame) || isServerPush(frame) || this.#isAtEnd) return false;
    if (this.#finalOnly || (frame.is_final && !frame.is_stream)) return this.#takesFinal(frame);
    if (frame.sequence <= this.#after) return false;
    if (frame.sequence > this.#after + 1) throw this.#gap(frame);
    const [issue] = this.#order.receive(frame);
    if (issue !== undefined) throw new DragomanError({ code: 'bad_frame', message: issue.message, issues: [issue] });
    this.#after = frame.sequence;
    this.#isAtEnd = frame.is_final;
    return true;
  }

  /** If an answer is not a stream, only its final frame counts, whatever its sequence is. */
  #takesFinal(frame: E2AResponse): boolean {
    if (!frame.is_final || frame.request_id !== this.#requestId) return false;
    this.#isAtEnd = true;
    return true;
  }

  /** The error when frames are missing on this connection. They are still in the journal. */
  #gap({ sequence }: E2AResponse): DragomanError {
    return new DragomanError({
      code: 'frame_missing',
      message: `Expected frame ${this.#after + 1}; received frame ${sequence}.`,
      retryable: true,
      requestId: this.#requestId,
    });
  }
}

export interface PlaceOptions {
  readonly requestId: string;
  readonly after?: number;
  readonly finalOnly?: boolean;
}
