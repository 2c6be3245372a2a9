import { type JsonObject, show } from '@dragoman/protocols';
import {
  type Experience,
  type Feedback,
  isMessage,
  type MessageOf,
  type PerformanceRecord,
} from '@dragoman/protocols/a2e-wire';
import type { Clock, Ids } from '../../ports/ports.ts';
import type { MemoriesStore } from '../../store/memories.ts';
import { KeptRows, type RowPlace } from '../kept-rows.ts';
import type { Answered, WirePlugin } from '../wire/plugin.ts';
import { WireRefused } from '../wire/wire-refused.ts';

export interface LearningOptions {
  readonly store: MemoriesStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Feedback on agents, and the steps they took: kept per agent, counted, and exported for training elsewhere.
 * The newest 10,000 of an agent are kept.
 */
export class Learning {
  readonly #rows: KeptRows<JsonObject>;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ store, clock, ids }: LearningOptions) {
    this.#rows = new KeptRows({
      store,
      clock,
      kind: 'learn',
      quota: { entries: 10_000, size: 8 * 1024 * 1024, spaces: 2 },
    });
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Records feedback; an entry with a known id replaces the earlier one. Returns the new mean score. */
  async addFeedback(agent: string, feedbacks: readonly Feedback[]): Promise<number | null> {
    for (const feedback of feedbacks) {
      const feedback_id = feedback.feedback_id || this.#ids.hex();
      await this.#add(agent, `feedback ${feedback_id}`, {
        kind: 'feedback',
        ts: this.#now(),
        ...feedback,
        feedback_id,
      });
    }
    return meanOf((await this.#feedback(agent)).map(({ score }) => score));
  }

  async addExperiences(agent: string, experiences: readonly Experience[]): Promise<void> {
    for (const experience of experiences) {
      const experience_id = experience.experience_id || this.#ids.hex();
      const value = { kind: 'experience', ts: this.#now(), ...experience, experience_id };
      await this.#add(agent, `experience ${experience_id}`, value);
    }
  }

  /**
   * The performance of each component by its feedback: the model of the rated turn, or the agent itself if no turn is
   * named.
   */
  async stats(agent: string, component = ''): Promise<PerformanceRecord[]> {
    const groups = new Map<string, Feedback[]>();
    for (const feedback of await this.#feedback(agent)) {
      const name = feedback.rated_turn?.model ?? agent;
      if (component !== '' && component !== name) continue;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [feedback]);
      else group.push(feedback);
    }
    return [...groups].map(([component_name, feedbacks]) => recordOf(component_name, feedbacks));
  }

  /** Everything that is kept of an agent, the oldest first. */
  async export(agent: string): Promise<JsonObject[]> {
    return (await this.#rows.list(placeOf(agent))).map(({ value }) => value);
  }

  async #add(agent: string, key: string, value: JsonObject): Promise<void> {
    const place = placeOf(agent);
    if (JSON.stringify(value).length > LARGEST) {
      throw new WireRefused('schema_violation', `One entry may have ${LARGEST} characters of JSON.`);
    }
    if (await this.#rows.put(place, key, value)) return;
    const oldest = (await this.#rows.list(place)).slice(0, MOST_DROPPED).map((row) => row.key);
    await this.#rows.remove(place, oldest);
    await this.#rows.keep(place, key, value);
  }

  async #feedback(agent: string): Promise<Feedback[]> {
    const rows = await this.export(agent);
    return rows.filter(({ kind }) => kind === 'feedback') as unknown as Feedback[];
  }

  #now(): number {
    return this.#clock.now().getTime() / 1000;
  }
}

/**
 * `learn/feedback`, `learn/experience` and `learn/stats`. `learn/adapt` and `learn/refinement` are not hosted, because
 * nothing here changes a model.
 */
export function learnPlugin(learning: Learning): WirePlugin {
  return {
    name: 'learn',
    capability: 'learning',
    messages: ['learn/feedback/req', 'learn/experience/req', 'learn/stats/req'],
    handle(message, { session }) {
      const agent = session.principal.id;
      if (isMessage(message, 'learn/feedback/req')) return feedback(agent, message, learning);
      if (isMessage(message, 'learn/experience/req')) return experience(agent, message, learning);
      return isMessage(message, 'learn/stats/req') ? stats(agent, message, learning) : undefined;
    },
  };
}

async function feedback(
  agent: string,
  { feedbacks }: MessageOf<'learn/feedback/req'>,
  learning: Learning,
): Promise<Answered> {
  requireFew('feedbacks', feedbacks);
  return { new_score: await learning.addFeedback(agent, feedbacks), recorded: feedbacks.length };
}

async function experience(
  agent: string,
  { experiences }: MessageOf<'learn/experience/req'>,
  learning: Learning,
): Promise<Answered> {
  requireFew('experiences', experiences);
  await learning.addExperiences(agent, experiences);
  return { stored: experiences.length };
}

async function stats(
  agent: string,
  { component_name }: MessageOf<'learn/stats/req'>,
  learning: Learning,
): Promise<Answered> {
  return { components: (await learning.stats(agent, component_name)) as unknown as JsonObject[] };
}

function requireFew(field: string, items: readonly unknown[]): void {
  if (items.length <= MOST_AT_ONCE) return;
  throw new WireRefused('schema_violation', `${field} may have ${MOST_AT_ONCE} items; got ${show(items.length)}`);
}

function placeOf(agent: string): RowPlace {
  return { owner: agent, name: '' };
}

function recordOf(component_name: string, feedbacks: readonly Feedback[]): PerformanceRecord {
  const count = (...polarities: readonly string[]) =>
    feedbacks.filter(({ polarity }) => polarities.includes(polarity)).length;
  return {
    component_name,
    calls_total: feedbacks.length,
    calls_success: count('positive'),
    calls_failed: count('negative', 'corrective'),
    avg_duration_ms: 0,
    avg_score: meanOf(feedbacks.map(({ score }) => score)) ?? 0,
    last_called: feedbacks.reduce((latest, { ts = 0 }) => Math.max(latest, ts), 0),
    p95_duration_ms: 0,
  };
}

function meanOf(scores: readonly number[]): number | null {
  if (scores.length === 0) return null;
  return Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 1e6) / 1e6;
}

const LARGEST = 65_536;
const MOST_AT_ONCE = 1_000;
/** How many of the oldest entries are deleted when the quota is reached. */
const MOST_DROPPED = 1_000;
