/** One line about one request, for whoever has to know later who did what. Never what was said. */
export interface AuditEntry {
  /** Seconds since 1970. */
  readonly ts: number;
  readonly session_id: string;
  readonly req_id: string;
  readonly correlation_id: string;
  /** Who asked. */
  readonly agent_id: string;
  readonly type: string;
  /** The tool or skill that was called; empty for other requests. */
  readonly name: string;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly error_code: string;
  readonly input_bytes: number;
  readonly output_bytes: number;
}

/** Where the lines go. What becomes of a line never changes what becomes of its request. */
export type Audit = (entry: AuditEntry) => void;
