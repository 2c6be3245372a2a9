/** An error that PostgreSQL itself reported, as against one of the connection. */
export interface SqlError extends Error {
  readonly code: string;
  readonly severity: string;
}

/** By its severity: errors of Node have a `code` too, and some of those look like one of PostgreSQL's. */
export function isSqlError(error: unknown): error is SqlError {
  return error instanceof Error && 'severity' in error && typeof (error as SqlError).severity === 'string';
}

export function sqlStateOf(error: unknown): string | undefined {
  return isSqlError(error) ? error.code : undefined;
}

/** Two transactions stood in each other's way, and this one was undone: doing it again is right. */
export function isConflict(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * The database cannot do it just now: it starts or stops, has no room or no connection left, or has become a standby. An error that is not of
 * PostgreSQL is one of the connection.
 */
export function isPassing(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code !== undefined && (/^(08|57P|53|58)/.test(code) || code === '25006' || code === '55P03');
}
