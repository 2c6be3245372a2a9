import { FAILURES, type Failure, type FailureCode, type FailureDetails, failure } from '@dragoman/protocols';

/** Thrown where a request is turned away before it has an answer. Match on `failure.code`. */
export class Refused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'Refused';
    this.failure = failure;
  }
}

export function refuse(code: FailureCode, details?: FailureDetails, message?: string): never {
  throw new Refused(failure(code, details, message));
}

/** The failure an error carries, or stands for, whichever copy of this module threw it. */
export function failureOf(error: unknown): Failure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && error.code === 'store_unavailable') return failure('store_unavailable', { retry_after: 5 });
  if ('code' in error && error.code === 'store_damaged') return failure('store_damaged');
  if (!('failure' in error)) return undefined;
  return isFailure(error.failure) ? error.failure : undefined;
}

/** Errors of other people's code may have a member of that name too. */
function isFailure(carried: unknown): carried is Failure {
  const { code, message, details } = Object(carried) as Partial<Record<keyof Failure, unknown>>;
  const isKnown = typeof code === 'string' && Object.hasOwn(FAILURES, code);
  return isKnown && typeof message === 'string' && typeof details === 'object' && details !== null;
}
