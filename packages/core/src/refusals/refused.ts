import { FAILURES, type Failure, type FailureCode, type FailureDetails, failure } from '@dragoman/protocols';

/** Thrown to refuse a request that has no answer yet. Match on `failure.code`. */
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

/** The failure that an error carries or stands for, even if another copy of this module threw it. */
export function failureOf(error: unknown): Failure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && error.code === 'store_unavailable') return failure('store_unavailable', { retry_after: 5 });
  if ('code' in error && error.code === 'store_damaged') return failure('store_damaged');
  if (!('failure' in error)) return undefined;
  return isFailure(error.failure) ? error.failure : undefined;
}

/** Errors of other libraries may have a member `failure`, too. */
function isFailure(carried: unknown): carried is Failure {
  const { code, message, details } = Object(carried) as Partial<Record<keyof Failure, unknown>>;
  const isKnown = typeof code === 'string' && Object.hasOwn(FAILURES, code);
  return isKnown && typeof message === 'string' && typeof details === 'object' && details !== null;
}
