/** The result of one check. */
export interface DoctorFinding {
  /** What was checked, in one or two words. */
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  /** How to fix it, if possible as a command. */
  readonly fix?: string;
}

export function sound(check: string, message: string): DoctorFinding {
  return { check, ok: true, message };
}

export function broken(check: string, message: string, fix: string): DoctorFinding {
  return { check, ok: false, message, fix };
}
