import type { Path, TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Work } from '../operation.ts';

export interface Transform {
  compile(settings: TransformSettings, input: Path): Work;
}

export type TransformSettings = NonNullable<TransformDataConfig['config']>;
