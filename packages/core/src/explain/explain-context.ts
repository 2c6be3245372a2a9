import type { OwnOperations } from '@dragoman/protocols/a2e-workflow';
import type { Principal } from '../call/principal.ts';
import type { Store } from '../store/store.ts';

/** What is asked to tell what happened: the record, and who may do what now. */
export interface ExplainContext {
  readonly store: Store;
  /** Who has this id now. */
  readonly principalNamed: (id: string) => Principal | undefined;
  /** Those the operator has added. */
  readonly operations: OwnOperations;
}
