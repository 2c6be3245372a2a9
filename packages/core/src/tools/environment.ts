import { isObject, type Json, type JsonObject, type JsonSchema, show } from '@dragoman/protocols';
import { loadModule } from '../modules/load-module.ts';

/** A world that agents act in, as its author writes it: `wire.environments` names the file that exports it. */
export interface Environment {
  /** 1 to 64 letters, digits, "_" or "-". */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of an action; one that does not fit is refused before `step`. */
  readonly actions: JsonSchema;
  /** JSON Schema of the state, for callers. */
  readonly states?: JsonSchema;
  /** Begins an episode. The same seed begins the same one. */
  reset(start: EpisodeStart): Episode | Promise<Episode>;
}

export interface EpisodeStart {
  readonly seed: number | null;
  readonly spec: JsonObject;
  readonly options: JsonObject;
}

/** One run through an environment. */
export interface Episode {
  /** The initial state. */
  readonly state: JsonObject;
  step(action: JsonObject): EpisodeStep | Promise<EpisodeStep>;
  /** Renders the current state. Environments without pictures support the mode `text`. */
  render?(mode: string): Json | Promise<Json>;
  /** Actions that are worth trying now. */
  suggest?(): readonly JsonObject[] | Promise<readonly JsonObject[]>;
  close?(): void | Promise<void>;
}

export interface EpisodeStep {
  readonly state: JsonObject;
  readonly reward?: number;
  readonly done?: boolean;
  readonly truncated?: boolean;
  readonly metadata?: JsonObject;
}

/** Every environment that a file exports, under whatever name. */
export async function loadEnvironments(path: string): Promise<Environment[]> {
  const exported = Object.entries(await loadModule('environment', path)).filter(([, value]) => isMeantAsOne(value));
  if (exported.length === 0) {
    throw new Error(
      `environment ${path}: it exports no environment. Write: export const maze = { name, actions, reset({ seed }) { return { state, step(action) { … } } } }`,
    );
  }
  for (const [as, value] of exported) {
    const problem = problemIn(value as Partial<Environment>);
    if (problem !== undefined) throw new Error(`environment ${path}, export ${as}: ${problem}`);
  }
  return [...new Set(exported.map(([, value]) => value as Environment))];
}

function isMeantAsOne(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'reset' in value;
}

function problemIn({ name, actions, states = {}, reset }: Partial<Environment>): string | undefined {
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) {
    return `name must be 1 to 64 letters, digits, "_" or "-"; got ${name === undefined ? 'nothing' : show(name)}`;
  }
  if (!isObject(actions as never)) return 'actions must be a JSON Schema of an action, such as { type: "object" }';
  if (!isObject(states as never)) return 'states must be a JSON Schema of the state';
  return typeof reset === 'function' ? undefined : 'reset must be a function';
}
