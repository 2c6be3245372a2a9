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
import { hasMember, keptOf, readAgentFrame } from './agent-frame.ts';
import { isConnectionEvent } from './connection-event.ts';

/**
 * The answer of an agent outside this process, frame by frame: each frame becomes a part, and a frame that breaks the rules ends
 * the answer with a failure that names the rule.
 *
 *   open ──frame──▶ open ──final or invalid frame──▶ ended
 *
 * Frames after the end are not part of the answer: the first end counts, because readers may have seen it.
 */
export class RemoteFrames {
  readonly #requestId: string | null;
  readonly #order: FrameOrder;
  #next = 0;
  #isEnded = false;

  /** Frames without a request id belong to this request, because the driver knows which connection sent them. */
  constructor(requestId: string | null) {
    this.#requestId = requestId;
    this.#order = new FrameOrder(requestId ?? undefined);
  }

  /** Whether a part has ended the answer. */
  get ended(): boolean {
    return this.#isEnded;
  }

  /** The part for a frame; `undefined` for anything that is not part of the answer, such as a keepalive. */
  receive(json: Outcome<Json>): AgentPart | undefined {
    if (isConnectionEvent(json)) return undefined;
    if (!json.ok) return this.#lie(json.issues);
    const read = readAgentFrame(json.value);
    if (!read.ok) return this.#lie(read.issues);
    const frame = read.value;
    if (isKeepalive(frame) || isServerPush(frame)) return undefined;
    // A frame without a number counts as the next one: answers from before E2A have none. An error is accepted
    // with any number: the reference server reports internal errors with 0 in the middle of a stream.
    const isError = frame.is_final && frame.status === 'failed';
    const sequence = saysNumber(json.value) && !isError ? frame.sequence : this.#next;
    const issues = this.#order.receive({ ...frame, sequence, request_id: frame.request_id ?? this.#requestId });
    if (issues.length > 0) return this.#lie(issues);
    this.#next++;
    this.#isEnded = frame.is_final;
    return { part: 'frame', frame: keptOf(json.value, frame) };
  }

  /** Ends the answer with this part, which has the reason. */
  fail(part: AgentPart): AgentPart {
    this.#isEnded = true;
    return part;
  }

  /** Called when the agent can send no more frames. Returns a failure if the answer has not ended. */
  end(): AgentPart | undefined {
    return this.#isEnded ? undefined : this.fail(agentFailed('The agent ended without an answer.'));
  }

  #lie(issues: readonly Issue[]): AgentPart {
    const first = issues[0]?.message ?? 'it is not an E2A response';
    return this.fail(agentFailed(`The agent sent an invalid frame: ${first}.`, { issues }));
  }
}

function saysNumber(json: Json): boolean {
  return isObject(json) && hasMember(json, 'sequence');
}
