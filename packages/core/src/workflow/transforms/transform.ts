import type { Path, TransformDataConfig } from '@dragoman/protocols/a2e-workflow';
import type { Compiling, Work } from '../operation.ts';

/** Makes one kind of transformation from its settings. */
export type Transform = (settings: Settings, input: Path, compiling: Compiling) => Work;

export type Settings = NonNullable<TransformDataConfig['config']>;
