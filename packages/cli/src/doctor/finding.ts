/** What the doctor found out about one thing. */
export interface DoctorFinding {
  /** The thing: one word or two. */
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  /** What fixes it; a command where there is one. */
  readonly fix?: string;
}

export function sound(check: string, message: string): DoctorFinding {
  return { check, ok: true, message };
}

export function broken(check: string, message: string, fix: string): DoctorFinding {
  return { check, ok: false, message, fix };
}
