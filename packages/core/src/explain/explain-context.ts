import type { Explanation } from '@dragoman/protocols';
import type { OwnOperations } from '@dragoman/protocols/a2e-workflow';
import type { Principal } from '../call/principal.ts';
import type { Store } from '../store/store.ts';

/** The sources of an explanation: the record, and the current permissions. */
export interface ExplainContext {
  readonly store: Store;
  /** The caller that has this id now. */
  readonly principalNamed: (id: string) => Principal | undefined;
  /** The operations that the operator has added. */
  readonly operations: OwnOperations;
}

/** The record of one run. */
export type Explained = Omit<Explanation, 'also_by' | 'node'>;
