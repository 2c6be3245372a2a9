import type { Path, TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { MembersRead, Work } from '../operation.ts';

/** One kind of transformation. */
export interface Transform {
  /** Makes it from its settings. */
  compile(settings: Settings, input: Path): Work;
  /** As that of an operation. */
  membersRead?(settings: Settings): MembersRead | undefined;
}

export type Settings = NonNullable<TransformDataConfig['config']>;
