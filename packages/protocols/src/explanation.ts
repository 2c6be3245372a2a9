import type { Json } from './json.ts';
import type { Issue } from './outcome.ts';

/** The history of one request, from the received message to the sent frames, for the operator. */
export interface Explanation {
  readonly request_id: string;
  /**
   * `request`: a request to an agent. `execution`: of a workflow. `wire`: a line of the A2E wire that was answered at
   * once, and audited.
   */
  readonly kind: 'request' | 'execution' | 'wire';
  /** The caller. */
  readonly agent_id: string;
  readonly accepted_at: string;
  readonly state: string;
  /** The node that works on it, if several share a database; null if it has ended or there is only one server. */
  readonly node: string | null;
  readonly received: ReceivedInput;
  /** Its envelope; null if it is answered without one. */
  readonly envelope: Json;
  readonly allowed: readonly Allowed[];
  readonly way_in: WayIn;
  readonly answers: readonly ExplainedFrame[];
  /** The number of frames of a very long answer that are not shown. */
  readonly answers_left_out: number;
  /** The outcome of a kind without frames; otherwise null. */
  readonly outcome: Json;
  readonly callbacks: readonly Json[];
  /** Other callers that used the same id. */
  readonly also_by: readonly string[];
}

export interface ReceivedInput {
  readonly dialect: string;
  readonly bytes: number;
  /** Null if it was not kept; `note` gives the reason. */
  readonly text: string | null;
  readonly note?: string;
}

/** One permission check, and the rule that allowed it. */
export interface Allowed {
  readonly who: string;
  /** How the caller was authenticated. */
  readonly known_by: string;
  readonly what: string;
  readonly rule: string;
}

/** The fate of the fields of a message during a conversion. */
export interface Changes {
  /** Present before, absent now. */
  readonly dropped: readonly Change[];
  /** Present before, different now. */
  readonly changed: readonly Change[];
  /** Absent before, present now. */
  readonly invented: readonly Change[];
}

export interface Change {
  readonly pointer: string;
  readonly why: string;
  /** The new value, or the dropped one. */
  readonly value?: Json;
}

export interface WayIn extends Changes {
  /** The warnings from reading the message. */
  readonly warnings: readonly Issue[];
}

/** One frame of an answer, with its form in the caller's protocol. */
export interface ExplainedFrame {
  readonly sequence: number;
  readonly response_kind: string;
  readonly is_final: boolean;
  readonly frame: Json;
  readonly projections: readonly Projection[];
}

/** The frame in another protocol, with the dropped and the added fields. */
export interface Projection {
  readonly dialect: string;
  /** Null if that protocol has no message for the frame. */
  readonly message: Json;
  readonly dropped: readonly Change[];
  readonly invented: readonly Change[];
}
