import type { LogFields } from '../ports.ts';
import type { Asked } from './sql/operations.ts';
import type { StoreStats } from './store.ts';
import type { StoreErrorCode } from './store-error.ts';

// What the store and its thread say to each other.

/** Handed to the thread when it starts. */
export interface ThreadSetup {
  readonly folder: string;
  readonly ballastBytes: number;
  readonly engine: EngineModule | undefined;
}

/** A module that exports `engine(data): Promise<Engine>`. */
export interface EngineModule {
  readonly url: string;
  readonly data: unknown;
}

export type ToThread = readonly Call[] | 'close';

export interface Call {
  readonly id: number;
  readonly name: string;
  readonly values: readonly unknown[];
}

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: ErrorData }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }
  | { readonly kind: 'broken'; readonly error: ErrorData }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly fields: LogFields;
      readonly message: string;
    };

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: ErrorData };

/** An error on its way between threads; without a code it is one that only we can cause. */
export interface ErrorData {
  readonly code: StoreErrorCode | undefined;
  readonly message: string;
}

/** What the thread can be asked. */
export type Questions = Asked & { stats(): StoreStats };
