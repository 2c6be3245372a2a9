import { isObject, type Json, pointerTo } from '@dragoman/protocols';
import type { Finding } from '@dragoman/protocols/a2e-workflow';

/** The places of the operations of a workflow in a file, with either form of lines. */
export function workflowPlaces(lines: readonly (Json | undefined)[], at: string): WorkflowPlaces {
  const operations = new Map<string, string>();
  let begin: { at: string; bundled: boolean } | undefined;
  for (const [index, line] of lines.entries()) {
    if (!isObject(line)) continue;
    const here = pointerTo(at, index);
    const { type, operationId, operationUpdate, beginExecution } = line;
    // A later definition replaces an earlier one.
    if (type === 'operationUpdate' && typeof operationId === 'string') operations.set(operationId, here);
    else if (type === 'beginExecution') begin = { at: here, bundled: false };
    else if (beginExecution !== undefined) begin = { at: pointerTo(here, 'beginExecution', 'root'), bundled: true };
    else if (isObject(operationUpdate) && Array.isArray(operationUpdate['operations'])) {
      for (const [number, operation] of operationUpdate['operations'].entries()) {
        if (!isObject(operation) || typeof operation['id'] !== 'string') continue;
        operations.set(operation['id'], pointerTo(here, 'operationUpdate', 'operations', number));
      }
    }
  }
  return {
    pointerOf: ({ operationId, pointer }) => {
      if (operationId !== undefined) return (operations.get(operationId) ?? at) + pointer;
      if (begin === undefined || pointer === '') return at;
      return begin.bundled ? begin.at : begin.at + pointer;
    },
  };
}

interface WorkflowPlaces {
  pointerOf(finding: Pick<Finding, 'operationId' | 'pointer'>): string;
}
