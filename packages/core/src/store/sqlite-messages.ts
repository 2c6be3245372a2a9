import type { LogFields } from '../ports/ports.ts';
import type { OperationsByName } from './sql/operations.ts';
import type { StoreStats } from './store.ts';
import { StoreError, type StoreErrorCode } from './store-error.ts';

// The messages between the store and its thread.

/** Handed to the thread when it starts. */
export interface ThreadSetup {
  readonly folder: string;
  readonly ballastBytes: number;
  readonly engine: EngineModule | undefined;
  readonly acceptLoss: boolean;
  /** The thread sets it to 1, and notifies, when the database is closed. */
  readonly closed: Int32Array;
}

/** A module that exports `engine(data): Promise<Engine>`. */
export interface EngineModule {
  readonly url: string;
  readonly data: unknown;
}

/** A flat list of calls, each as its id, its name, the number of its values, and the values; or a request to close. */
export type ToThread = readonly unknown[] | 'close';

export interface StoreCall {
  readonly id: number;
  readonly name: string;
  readonly values: readonly unknown[];
}

export type FromThread =
  | { readonly kind: 'ready'; readonly epoch: number }
  | { readonly kind: 'refused'; readonly error: ErrorData }
  /** A flat list of answers, each as the id of its call and the value. */
  | readonly unknown[]
  | { readonly kind: 'failed'; readonly failed: readonly FailedAnswer[] }
  | { readonly kind: 'broken'; readonly error: ErrorData }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: LogFields;
      readonly message: string;
    };

export type StoreAnswer = { readonly id: number; readonly value: unknown } | FailedAnswer;

export interface FailedAnswer {
  readonly id: number;
  readonly error: ErrorData;
}

/** The calls in a message. */
export function* callsIn(message: readonly unknown[]): Generator<StoreCall> {
  for (let at = 0; at < message.length; ) {
    const [id, name, count] = message.slice(at, at + 3) as [number, string, number];
    at += 3 + count;
    yield { id, name, values: message.slice(at - count, at) };
  }
}

/** An error on its way between threads; without a code it is a bug of this program. */
export interface ErrorData {
  readonly code: StoreErrorCode | undefined;
  readonly message: string;
}

export function errorOf({ code, message }: ErrorData): Error {
  return code === undefined ? new Error(message) : new StoreError(code, message);
}

/** The operations on the database, and those of the thread itself. */
export type Questions = OperationsByName & { stats(): StoreStats; scrub(): void };
