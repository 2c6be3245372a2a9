import type { Path, TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Work } from '../operation.ts';

/** One kind of transformation. */
export interface Transform {
  /** Makes it from its settings. */
  compile(settings: TransformSettings, input: Path): Work;
}

export type TransformSettings = NonNullable<TransformDataConfig['config']>;
