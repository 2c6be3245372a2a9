import type { Json } from './json.ts';
import type { Issue } from './outcome.ts';

/** What happened to one request, from the message received to the frames sent, for the operator. */
export interface Explanation {
  readonly request_id: string;
  /** `request`: for an agent. `execution`: of a workflow. `wire`: a line that was answered at once, and audited. */
  readonly kind: 'request' | 'execution' | 'wire';
  /** The caller. */
  readonly agent_id: string;
  readonly accepted_at: string;
  readonly state: string;
  /** The node that works on it, where several share a database; null when it has ended or there is one server only. */
  readonly node: string | null;
  readonly received: ReceivedInput;
  /** What was made of it; null where it is answered without an envelope. */
  readonly envelope: Json;
  readonly allowed: readonly Allowed[];
  readonly way_in: WayIn;
  readonly answers: readonly ExplainedFrame[];
  /** Frames that are not shown, of a very long answer. */
  readonly answers_left_out: number;
  /** The outcome of a kind without frames; otherwise null. */
  readonly outcome: Json;
  readonly callbacks: readonly Json[];
  /** Others who used the same id. */
  readonly also_by: readonly string[];
}

export interface ReceivedInput {
  readonly dialect: string;
  readonly bytes: number;
  /** Null where it is not kept; `note` says why. */
  readonly text: string | null;
  readonly note?: string;
}

/** One thing that had to be allowed, and what allowed it. */
export interface Allowed {
  readonly who: string;
  /** How it was known who asks. */
  readonly known_by: string;
  readonly what: string;
  readonly rule: string;
}

/** What became of the fields of a message on its way into another. */
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
  /** What it is now, or what was dropped. */
  readonly value?: Json;
}

export interface WayIn extends Changes {
  /** What was tolerated in reading it. */
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

/** The frame in another protocol, with what that one has no word for and what it says of itself. */
export interface Projection {
  readonly dialect: string;
  /** Null where it has no word for the frame at all. */
  readonly message: Json;
  readonly dropped: readonly Change[];
  readonly invented: readonly Change[];
}
