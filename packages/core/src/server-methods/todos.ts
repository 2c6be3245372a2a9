import { isObject, type JsonObject } from '@dragoman/protocols';
import { frameFrom } from '../runs/frame-text.ts';
import type { Runs } from '../runs/runs.ts';

/**
 * What an agent has told last, in these requests, of the things it has to do. The newest comes first. Not all of a very long
 * talk is read for it.
 */
export async function lastTodos(
  requestIds: readonly string[],
  { owner, runs }: { readonly owner: string; readonly runs: Pick<Runs, 'read'> },
): Promise<JsonObject | undefined> {
  let left = MOST_FRAMES;
  for (const requestId of requestIds) {
    let told: JsonObject | undefined;
    const reading = runs.read({ owner, requestId }, -1);
    for (let rows = await reading.next(); rows.length > 0 && left > 0; rows = await reading.next()) {
      left -= rows.length;
      // Reading a frame costs more than looking for a word in it.
      for (const { text } of rows) if (text.includes(TODOS)) told = todosIn(frameFrom(text).body) ?? told;
    }
    if (told !== undefined || left <= 0) return told;
  }
  return undefined;
}

function todosIn({ event_type: type, delta }: JsonObject): JsonObject | undefined {
  return type === TODOS && isObject(delta) ? delta : undefined;
}

/** The event by which the Gateway tells them. */
export const TODOS = 'todo.updated';
const MOST_FRAMES = 5_000;
