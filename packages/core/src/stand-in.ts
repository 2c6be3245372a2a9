import type { Json } from '@dragoman/protocols';

/** Stands for a JSON object of which only some members were read. Whoever writes or measures values asks it for the rest. */
export abstract class StandIn {
  /** Its index among the objects it came with. */
  abstract readonly place: number;
  /** What the whole takes as JSON. */
  abstract readonly jsonBytes: number;
  /** The whole. `JSON.stringify` calls it. */
  abstract toJSON(): Json;
}
