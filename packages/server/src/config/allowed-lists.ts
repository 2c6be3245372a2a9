import { type AllowedLists, decodeHostPort, type HostPort } from '@dragoman/core';
import type { CompleteConfig } from './complete-config.ts';

/** `gate.allow` and `gate.callbacks` of a configuration. */
export function allowedLists({ gate }: CompleteConfig): AllowedLists {
  const hostsIn = (list: keyof AllowedLists): HostPort[] =>
    gate[list].map((text, index) => {
      const outcome = decodeHostPort(text, `/gate/${list}/${index}`);
      if (outcome.ok) return outcome.value;
      throw new Error(outcome.issues.map(({ message, suggestion }) => `${message}; ${suggestion}`).join('\n'));
    });
  return { allow: hostsIn('allow'), callbacks: hostsIn('callbacks') };
}
