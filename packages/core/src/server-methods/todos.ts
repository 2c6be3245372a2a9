import { isObject, type JsonObject } from '@dragoman/protocols';
import { frameFrom } from '../runs/frame-text.ts';
import type { Runs } from '../runs/runs.ts';

/**
 * The latest to-do list that an agent sent in these requests, of which the newest is first. Reads at most `MOST_FRAMES`
 * frames of a very long conversation.
 */
export async function lastTodos(
  requestIds: readonly string[],
  { owner, runs }: { readonly owner: string; readonly runs: Pick<Runs, 'read'> },
): Promise<JsonObject | undefined> {
  let left = MOST_FRAMES;
  for (const requestId of requestIds) {
    let todos: JsonObject | undefined;
    const reading = runs.read({ owner, requestId }, -1);
    for (let rows = await reading.next(); rows.length > 0 && left > 0; rows = await reading.next()) {
      left -= rows.length;
      // The search avoids parsing most frames.
      for (const { text } of rows) if (text.includes(TODOS)) todos = todosIn(frameFrom(text).body) ?? todos;
    }
    if (todos !== undefined || left <= 0) return todos;
  }
  return undefined;
}

function todosIn({ event_type: type, delta }: JsonObject): JsonObject | undefined {
  return type === TODOS && isObject(delta) ? delta : undefined;
}

/** The Gateway's event with a to-do list. */
export const TODOS = 'todo.updated';
const MOST_FRAMES = 5_000;
