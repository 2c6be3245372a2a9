import type { InboundAnswer } from './gate.ts';

/** A header of an answer, by its name in lower case; the first one if there are several. */
export function headerOf({ headers }: Pick<InboundAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
