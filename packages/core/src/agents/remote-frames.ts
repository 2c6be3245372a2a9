import {
  FrameOrder,
  type Issue,
  isKeepalive,
  isObject,
  isServerPush,
  type Json,
  type Outcome,
} from '@dragoman/protocols';
import { type AgentPart, agentFailed } from './agent.ts';
import { keptOf, readAgentFrame, says } from './agent-frame.ts';
import { isConnectionEvent } from './connection-event.ts';

/**
 * The answer of an agent outside of this process, frame by frame: what it says becomes a part, and what breaks the
 * rules ends the answer with a failure that names the rule.
 *
 *   open ──frame──▶ open ──final frame, or a lie──▶ ended
 *
 * What comes after the end is not part of the answer: the first end counts, as it may have been seen already.
 */
export class RemoteFrames {
  readonly #requestId: string | null;
  readonly #order: FrameOrder;
  #next = 0;
  #isEnded = false;

  /** Frames that name no request are taken for this one: whoever hands them over knows where they came from. */
  constructor(requestId: string | null) {
    this.#requestId = requestId;
    this.#order = new FrameOrder(requestId ?? undefined);
  }

  /** Whether a part has ended the answer. */
  get ended(): boolean {
    return this.#isEnded;
  }

  /** The part a frame is; `undefined` for anything that is not part of the answer, such as a keepalive. */
  receive(json: Outcome<Json>): AgentPart | undefined {
    if (isConnectionEvent(json)) return undefined;
    if (!json.ok) return this.#lie(json.issues);
    const read = readAgentFrame(json.value);
    if (!read.ok) return this.#lie(read.issues);
    const frame = read.value;
    if (isKeepalive(frame) || isServerPush(frame)) return undefined;
    // A frame that does not say its number is taken as the next one: answers of before E2A have none. An error is
    // believed whatever its number: the reference server reports its own accidents with 0 in the middle of a stream.
    const isError = frame.is_final && frame.status === 'failed';
    const sequence = saysNumber(json.value) && !isError ? frame.sequence : this.#next;
    const issues = this.#order.receive({ ...frame, sequence, request_id: frame.request_id ?? this.#requestId });
    if (issues.length > 0) return this.#lie(issues);
    this.#next++;
    this.#isEnded = frame.is_final;
    return { part: 'frame', frame: keptOf(json.value, frame) };
  }

  /** The part that says why there are no more frames. */
  fail(part: AgentPart): AgentPart {
    this.#isEnded = true;
    return part;
  }

  /** No more frames can come. */
  end(): AgentPart | undefined {
    return this.#isEnded ? undefined : this.fail(agentFailed('The agent ended without an answer.'));
  }

  #lie(issues: readonly Issue[]): AgentPart {
    const first = issues[0]?.message ?? 'it is no E2A response';
    return this.fail(agentFailed(`The agent sent a frame that cannot be taken: ${first}.`, { issues }));
  }
}

function saysNumber(json: Json): boolean {
  return isObject(json) && says(json, 'sequence');
}
