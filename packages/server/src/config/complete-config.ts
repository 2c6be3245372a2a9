import { type Filled, withDefaults } from '@dragoman/core';
import { type Config, ConfigShape } from './config-schema.ts';

/** A configuration in which every key with a default has a value. */
export type CompleteConfig = Filled<typeof ConfigShape>;

export function completeConfig(config: Config): CompleteConfig {
  return withDefaults(ConfigShape, config);
}
