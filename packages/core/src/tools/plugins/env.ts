import { isObject, type Json, type JsonObject, nearest, show } from '@dragoman/protocols';
import { type EnvObservation, isMessage, type MessageOf, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { allows, type Principal } from '../../call/principal.ts';
import type { Clock, Ids } from '../../ports/ports.ts';
import { failureOf, refuse } from '../../refusals/refused.ts';
import { ArgumentCheck } from '../argument-check.ts';
import type { Environment, Episode } from '../environment.ts';
import type { Answered, WireCall, WirePlugin, WireSession } from '../wire/plugin.ts';
import { WireRefused, wireRefusalOf } from '../wire/wire-refused.ts';

export interface EnvPluginOptions {
  readonly environments: readonly Environment[];
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * `env/*`: the operator's environments. An episode belongs to the connection that began it and ends with it.
 * `permissions.tools` must include `env.NAME`.
 */
export function envPlugin(options: EnvPluginOptions): WirePlugin {
  const episodes = new Episodes(options);
  return {
    name: 'env',
    capability: 'env',
    messages: [
      'env/reset/req',
      'env/step/req',
      'env/observe/req',
      'env/close/req',
      'env/space/req',
      'env/render/req',
      'env/plan/req',
      'env/batch_step/req',
      'env/exp/list/req',
    ],
    handle: (message, call) => answer(message, call, episodes),
    teardown: () => episodes.closeAll(),
  };
}

async function answer(message: WireMessage, { session }: WireCall, episodes: Episodes): Promise<Answered> {
  if (isMessage(message, 'env/reset/req')) return { obs: await episodes.reset(session, message) };
  if (isMessage(message, 'env/step/req')) {
    return { obs: await episodes.step(session, message.episode_id, message.action) };
  }
  if (isMessage(message, 'env/observe/req')) return { obs: episodes.find(session, message.episode_id).observation };
  if (isMessage(message, 'env/close/req')) {
    await episodes.close(session, message.episode_id);
    return { closed: true };
  }
  if (isMessage(message, 'env/space/req')) {
    const { actions, states = {} } = episodes.environment(session.principal, message.env_name);
    return { action_space: actions as JsonObject, state_schema: states as JsonObject };
  }
  if (isMessage(message, 'env/render/req')) return { render: await episodes.render(session, message) };
  if (isMessage(message, 'env/plan/req')) return { suggested_actions: await episodes.suggest(session, message) };
  if (isMessage(message, 'env/batch_step/req')) {
    const { episode_ids, actions } = message;
    const results: JsonObject[] = [];
    // In sequence, because the same episode may be named twice.
    for (const [at, id] of episode_ids.entries()) {
      results.push({ obs: await episodes.step(session, id, (actions[at] ?? {}) as JsonObject) });
    }
    return { results };
  }
  return isMessage(message, 'env/exp/list/req') ? { episodes: episodes.experience(session, message) } : undefined;
}

/** The episodes of all connections. */
class Episodes {
  readonly #options: EnvPluginOptions;
  readonly #checks: ReadonlyMap<string, ArgumentCheck>;
  readonly #sessions = new Map<WireSession, Map<string, Running>>();

  constructor(options: EnvPluginOptions) {
    this.#options = options;
    this.#checks = new Map(options.environments.map(({ name, actions }) => [name, new ArgumentCheck(actions, name)]));
  }

  environment({ permissions }: Principal, name: string): Environment {
    const allowed = this.#options.environments.filter((one) => allows(permissions.tools, `env.${one.name}`));
    const found = allowed.find((one) => one.name === name);
    if (found !== undefined) return found;
    const close = nearest(
      name,
      allowed.map((one) => one.name),
    );
    const suggestions = close === undefined ? [] : [`did you mean ${close}?`];
    refuse(
      'not_found',
      { suggestions },
      `There is no environment ${show(name.slice(0, 80))}, or permissions.tools does not include ${show(`env.${name}`.slice(0, 80))}.`,
    );
  }

  async reset(
    session: WireSession,
    { env_name, spec, seed, options }: MessageOf<'env/reset/req'>,
  ): Promise<JsonObject> {
    const environment = this.environment(session.principal, env_name);
    const own = this.#of(session);
    if (own.size >= MOST_EPISODES) throw tooManyEpisodes();
    const id = this.#options.ids.hex().slice(0, 16);
    const episode = await explained(environment.name, async () => {
      const started = await environment.reset({ seed, spec, options });
      requireState(started.state);
      return started;
    });
    // Meanwhile the connection may have closed, or other episodes may have started.
    if (session.closed.aborted || own.size >= MOST_EPISODES) {
      await explained(environment.name, async () => episode.close?.());
      throw tooManyEpisodes();
    }
    const observation = this.#observation(id, 0, { state: episode.state });
    own.set(id, { id, environment, episode, observation, reward: 0, isStepping: false });
    return observation as unknown as JsonObject;
  }

  async step(session: WireSession, id: string, action: JsonObject): Promise<JsonObject> {
    const running = this.find(session, id);
    const { environment, episode, observation } = running;
    if (observation['done'] === true || observation['truncated'] === true) {
      throw new WireRefused('runtime_error', `The episode ${id} is over; begin another with env/reset/req.`);
    }
    const [issue] = this.#checks.get(environment.name)?.issuesOf(action) ?? [];
    if (issue !== undefined) {
      const text = `The environment ${environment.name} has no such action: ${issue.message}`;
      throw new WireRefused('unknown_action', text, { pointer: issue.pointer.replace(/^\/arguments/, '/action') });
    }
    if (running.isStepping) throw new WireRefused('busy', `The episode ${id} is at another step.`);
    running.isStepping = true;
    try {
      const step = await explained(environment.name, async () => {
        const taken = await episode.step(action);
        requireState(taken?.state);
        return taken;
      });
      running.reward += step.reward ?? 0;
      running.observation = this.#observation(id, Number(observation['step_num']) + 1, step);
      return running.observation;
    } finally {
      running.isStepping = false;
    }
  }

  async render(session: WireSession, { episode_id, mode }: MessageOf<'env/render/req'>): Promise<Json> {
    const { environment, episode } = this.find(session, episode_id);
    if (episode.render === undefined)
      refuse('not_found', {}, `The environment ${environment.name} cannot be rendered.`);
    return explained(environment.name, async () => (await episode.render?.(mode)) ?? null);
  }

  async suggest(session: WireSession, { episode_id }: MessageOf<'env/plan/req'>): Promise<JsonObject[]> {
    if (episode_id === null)
      refuse('invalid_message', {}, 'episode_id is required: env/plan suggests actions for one episode');
    const { environment, episode } = this.find(session, episode_id);
    return explained(environment.name, async () => [...((await episode.suggest?.()) ?? [])]);
  }

  experience(session: WireSession, { episode_id, limit }: MessageOf<'env/exp/list/req'>): JsonObject[] {
    const wanted = episode_id === '' ? [...this.#of(session).values()] : [this.find(session, episode_id)];
    return wanted.slice(0, limit).map(({ id, environment, observation, reward }) => {
      const { step_num = 0, done = false, truncated = false } = observation;
      return { episode_id: id, env_name: environment.name, steps: step_num, total_reward: reward, done, truncated };
    });
  }

  async close(session: WireSession, id: string): Promise<void> {
    const { environment, episode } = this.find(session, id);
    this.#of(session).delete(id);
    await explained(environment.name, async () => episode.close?.());
  }

  find(session: WireSession, id: string): Running {
    const own = this.#of(session);
    const found = own.get(id);
    if (found !== undefined) return found;
    const open = own.size === 0 ? 'none is open' : `open are ${[...own.keys()].join(', ')}`;
    throw new WireRefused('not_found', `There is no episode ${show(id.slice(0, 80))} on this connection; ${open}.`);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((session) => this.#closeOf(session)));
  }

  #of(session: WireSession): Map<string, Running> {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const own = new Map<string, Running>();
    this.#sessions.set(session, own);
    session.closed.addEventListener('abort', () => void this.#closeOf(session), { once: true });
    return own;
  }

  async #closeOf(session: WireSession): Promise<void> {
    const own = this.#sessions.get(session);
    this.#sessions.delete(session);
    // An environment that fails to close must not keep the others open.
    await Promise.allSettled([...(own?.values() ?? [])].map(async ({ episode }) => episode.close?.()));
  }

  #observation(
    episode_id: string,
    step_num: number,
    { state, reward = 0, done = false, truncated = false, metadata = {} }: Seen,
  ): JsonObject {
    const created_at = this.#options.clock.now().getTime() / 1000;
    const seen: EnvObservation = { episode_id, step_num, state, done, truncated, reward, created_at, metadata };
    return seen as unknown as JsonObject;
  }
}

interface Running {
  readonly id: string;
  readonly environment: Environment;
  readonly episode: Episode;
  observation: JsonObject;
  /** The sum over all steps. */
  reward: number;
  isStepping: boolean;
}

type Seen = Awaited<ReturnType<Episode['step']>>;

/** Turns errors of an environment into `runtime_error` with their message, unless it refused with a code. */
async function explained<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const refused = wireRefusalOf(error);
    if (refused !== undefined) throw refused;
    if (failureOf(error) !== undefined) throw error;
    const text = error instanceof Error ? error.message : String(error);
    throw new WireRefused('runtime_error', `The environment ${name} failed: ${text.slice(0, LONGEST_MESSAGE)}`);
  }
}

function tooManyEpisodes(): WireRefused {
  const text = `${MOST_EPISODES} episodes of this connection are open; close one with env/close/req.`;
  return new WireRefused('reset_denied', text);
}

function requireState(state: unknown): void {
  if (!isObject(state as Json)) throw new TypeError('state must be an object');
}

const MOST_EPISODES = 16;
const LONGEST_MESSAGE = 2_000;
