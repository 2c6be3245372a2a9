import { isObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { show } from '../validation.ts';
import { SERVER_PUSH_KEY } from './reserved-keys.ts';
import type { E2AResponse } from './response.ts';

/**
 * Watches the frames that answer one request (E2A §12.3):
 *
 *   open ──frame n, n+1, …──▶ open ──frame with is_final──▶ closed
 *
 * Keepalive frames and server pushes are outside of the order and accepted in any state.
 */
export class FrameOrder {
  #requestId: string | null | undefined;
  #next = 0;
  #isClosed = false;

  /** Without an id, the first frame decides which request it is. */
  constructor(requestId?: string) {
    this.#requestId = requestId;
  }

  /** The problems of the next frame; empty if there are none. */
  receive(response: E2AResponse): Issue[] {
    if (isKeepalive(response) || isServerPush(response)) return [];
    this.#requestId ??= response.request_id;
    if (response.request_id !== this.#requestId) {
      const message = `request_id must be ${show(this.#requestId)} throughout; got ${show(response.request_id)}`;
      return [{ pointer: '/request_id', code: 'wrong_request', message }];
    }
    const issues = [...this.#closed(response), ...this.#sequence(response.sequence)];
    this.#next = Math.max(this.#next, response.sequence + 1);
    this.#isClosed ||= response.is_final;
    return issues;
  }

  /** Call this when no more frames can arrive: an answered request must have a final frame. */
  end(): Issue[] {
    if (this.#isClosed) return [];
    const message = `is_final must be true on the last frame; ${this.#next} followed and none was final`;
    return [{ pointer: '/is_final', code: 'no_final', message }];
  }

  #closed({ is_final }: E2AResponse): Issue[] {
    if (!this.#isClosed) return [];
    return is_final
      ? [
          {
            pointer: '/is_final',
            code: 'second_final',
            message: 'is_final must be true once; got a second final frame',
          },
        ]
      : [{ pointer: '', code: 'after_final', message: 'no frame may follow the final one; got one more' }];
  }

  #sequence(sequence: number): Issue[] {
    if (sequence === this.#next) return [];
    const isLast = this.#next > 0 && sequence === this.#next - 1;
    const code = sequence > this.#next ? 'sequence_gap' : isLast ? 'sequence_repeated' : 'sequence_backwards';
    return [{ pointer: '/sequence', code, message: `sequence must be ${this.#next} here; got ${sequence}` }];
  }
}

/**
 * Whether the frame is a keepalive of the reference server, which is outside of the order: `sequence` is -1, and it has
 * no content.
 */
export function isKeepalive({ sequence, response_kind, body }: E2AResponse): boolean {
  if (sequence !== -1 || response_kind !== 'e2a.chunk') return false;
  const delta = body['delta'];
  return isObject(delta) && delta['event_type'] === 'keepalive';
}

/** Whether this frame ends the answer with a failure. */
export function isFailed({ is_final, response_kind, status }: E2AResponse): boolean {
  return is_final && (status === 'failed' || response_kind === 'e2a.error' || response_kind === 'acp.jsonrpc_error');
}

/** Whether the server sent this frame by itself; such a frame answers no request. */
export function isServerPush({ metadata }: Pick<E2AResponse, 'metadata'>): boolean {
  return Object.hasOwn(metadata, SERVER_PUSH_KEY) && metadata[SERVER_PUSH_KEY] === true;
}
