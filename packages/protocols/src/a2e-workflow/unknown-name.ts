import { nearest } from '../nearest.ts';
import { show } from '../validation.ts';
import { namesWith, type OwnOperations } from './operation.ts';
import { operationMeantBy } from './synonym.ts';

/** The problem with an unknown operation type, for the reader and the checker. */
export function unknownOperation(type: string, own?: OwnOperations) {
  const names = namesWith(own);
  const close = nearest(type, names) ?? operationMeantBy(type);
  return {
    code: 'unknown_operation',
    message: `${show(type)} is not an operation; expected ${names.join(', ')}`,
    ...(close !== undefined && { suggestion: `did you mean ${close}?` }),
  } as const;
}

/** The problem with an undefined id; `name` is the place that runs it. */
export function undefinedOperation(id: string, name: string, defined: Iterable<string>) {
  const close = nearest(id, defined);
  return {
    code: 'undefined_operation',
    message: `${name} names ${show(id)}, which no operationUpdate defines`,
    suggestion: close === undefined ? `add an operationUpdate with operationId ${show(id)}` : `did you mean ${close}?`,
  } as const;
}
