/** An error that PostgreSQL itself reported, not an error of the connection. */
export interface SqlError extends Error {
  readonly code: string;
  readonly severity: string;
}

/**
 * Checks the severity, which only PostgreSQL's errors have. Node's errors have a `code` too, which may look like one of
 * PostgreSQL's.
 */
export function isSqlError(error: unknown): error is SqlError {
  return error instanceof Error && 'severity' in error && typeof (error as SqlError).severity === 'string';
}

export function sqlStateOf(error: unknown): string | undefined {
  return isSqlError(error) ? error.code : undefined;
}

/** Two transactions were in conflict, and this one was rolled back: it can be repeated. */
export function isConflict(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * True when the database cannot do it now: it starts or stops, has no space or no connection left, or has become a
 * standby. False for errors of the connection, which PostgreSQL did not report.
 */
export function isPassing(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code !== undefined && (/^(08|57P|53|58)/.test(code) || code === '25006' || code === '55P03');
}
