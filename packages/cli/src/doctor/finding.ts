/** One finding of the doctor. */
export interface DoctorFinding {
  /** The checked thing, one or two words. */
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  /** The fix, if possible a command. */
  readonly fix?: string;
}

export function sound(check: string, message: string): DoctorFinding {
  return { check, ok: true, message };
}

export function broken(check: string, message: string, fix: string): DoctorFinding {
  return { check, ok: false, message, fix };
}
