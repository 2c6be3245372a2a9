import { type E2AEnvelope, type E2AResponse, isObject, type JsonObject, nearest, show } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { failureOf, refuse } from '../refusals/refused.ts';
import { wholeAnswer } from '../runs/streamed-text.ts';
import type { MemoriesStore } from '../store/memories.ts';
import { question } from '../tools/agent-tool.ts';
import { KeptRows, type RowPlace } from '../tools/kept-rows.ts';
import type { Subagent, SubagentResult, Subagents } from '../tools/plugins/multi-agent.ts';
import { WireRefused } from '../tools/wire/wire-refused.ts';
import { resultOf } from './ask-target.ts';

export interface HubSubagentsOptions {
  readonly engine: Engine;
  readonly store: MemoriesStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The current agents. */
  readonly agents: () => readonly { readonly id: string }[];
}

/**
 * Subagents as sessions of the hub. Spawning opens a session with an agent, delegating sends a request in it. Both are
 * permitted, limited and journaled in the name of the caller. The list of subagents is in the store and their status is
 * read from the journal, so both survive the connection and a restart.
 */
export class HubSubagents implements Subagents {
  readonly #options: HubSubagentsOptions;
  readonly #rows: KeptRows<JsonObject>;

  constructor(options: HubSubagentsOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#rows = new KeptRows({ store, clock, kind: 'multi_agent' });
  }

  async spawn(principal: Principal, { name, role, model, max_steps, metadata }: Spawning): Promise<Subagent> {
    const reachable = this.#options.agents().filter(({ id }) => allows(principal.permissions.agents, id));
    if (!reachable.some(({ id }) => id === name)) {
      const close = nearest(
        name,
        reachable.map(({ id }) => id),
      );
      const suggestions = close === undefined ? ['skill/discover/req lists the agents'] : [`did you mean ${close}?`];
      refuse('not_found', { suggestions }, `There is no agent ${show(name.slice(0, 128))}.`);
    }
    const place = placeOf(principal);
    return this.#rows.inTurn(place, async () => {
      const before = await this.#rows.list(place);
      if (before.length >= MOST_SUBAGENTS) {
        throw new WireRefused(
          'busy',
          `You have ${MOST_SUBAGENTS} subagents; terminate one with multi_agent/terminate.`,
        );
      }
      const opened = await this.#ask(principal, { agent: name, method: 'session.create', params: {} });
      const { session_id } = resultOf(await finalOf(opened), name) as { session_id: string };
      const subagent_id = `sub_${this.#options.ids.hex().slice(0, 16)}`;
      const kept: Kept = {
        name,
        role,
        model,
        max_steps,
        metadata,
        session_id,
        steps: 0,
        request_id: '',
        task_name: '',
      };
      await this.#rows.keep(place, subagent_id, kept as unknown as JsonObject);
      return this.#subagentOf(principal, subagent_id, kept);
    });
  }

  delegate(principal: Principal, task: Delegating): Promise<Subagent> {
    const { subagent_id, task_name, instruction, success_criteria } = task;
    const place = placeOf(principal);
    return this.#rows.inTurn(place, async () => {
      const before = await this.#find(principal, subagent_id);
      const { status } = await this.#subagentOf(principal, subagent_id, before);
      if (status === 'RUNNING') {
        throw new WireRefused(
          'busy',
          `The subagent ${subagent_id} works on ${show(before.task_name)}; await it first.`,
        );
      }
      if (before.steps >= before.max_steps) {
        const text = `The subagent ${subagent_id} has had ${before.steps} tasks, which is its max_steps; spawn another.`;
        throw new WireRefused('busy', text, { max_steps: before.max_steps });
      }
      const { name: agent, role, model, session_id, steps } = before;
      const params = {
        content: instruction,
        task_name,
        ...(success_criteria.length > 0 && { success_criteria: [...success_criteria] }),
        ...(role !== '' && { role }),
        ...(model !== 'default' && { model }),
      };
      const requestId = `req_${this.#options.ids.sortable()}`;
      const kept: Kept = { ...before, steps: steps + 1, request_id: requestId, task_name };
      // Written first: after a crash the record may name a request that was never sent, but every request has a record.
      await this.#rows.keep(place, subagent_id, kept as unknown as JsonObject);
      try {
        await this.#accepted(principal, { agent, params, session_id, request_id: requestId });
      } catch (error) {
        await this.#rows.keep(place, subagent_id, before as unknown as JsonObject);
        throw error;
      }
      return this.#subagentOf(principal, subagent_id, kept);
    });
  }

  async await(principal: Principal, subagentId: string, signal: AbortSignal): Promise<SubagentResult> {
    const kept = await this.#find(principal, subagentId);
    if (kept.request_id === '') return { status: 'READY', result: null, error: null };
    const request = await this.#options.engine.runs.find({ owner: principal.id, requestId: kept.request_id });
    if (request === undefined) return GONE;
    try {
      const result = resultOf(await finalOf(request.read(-1, signal)), kept.name);
      return { status: 'COMPLETED', result: isObject(result) ? result : { result }, error: null };
    } catch (error) {
      signal.throwIfAborted();
      const failed = failureOf(error);
      if (failed === undefined) throw error;
      return { status: 'FAILED', result: null, error: failed.message };
    }
  }

  async list(principal: Principal): Promise<Subagent[]> {
    const rows = await this.#rows.list(placeOf(principal));
    return Promise.all(rows.map(({ key, value }) => this.#subagentOf(principal, key, value as unknown as Kept)));
  }

  async terminate(principal: Principal, subagentId: string): Promise<void> {
    const place = placeOf(principal);
    await this.#rows.inTurn(place, async () => {
      const { request_id: requestId } = await this.#find(principal, subagentId);
      const { runs } = this.#options.engine;
      if (requestId !== '')
        runs.cancel({ owner: principal.id, requestId }, 'The subagent was terminated by its caller.');
      await this.#rows.remove(place, [subagentId]);
    });
  }

  async #find(principal: Principal, subagentId: string): Promise<Kept> {
    const rows = await this.#rows.list(placeOf(principal));
    const found = rows.find(({ key }) => key === subagentId);
    if (found !== undefined) return found.value as unknown as Kept;
    const suggestions = ['multi_agent/list lists your subagents'];
    throw new WireRefused('not_found', `There is no subagent ${show(subagentId.slice(0, 80))}.`, { suggestions });
  }

  async #subagentOf(principal: Principal, subagent_id: string, kept: Kept): Promise<Subagent> {
    const { name, role, session_id, request_id, task_name } = kept;
    return {
      subagent_id,
      name,
      role,
      session_id,
      status: await this.#statusOf(principal, kept),
      request_id,
      task_name,
    };
  }

  async #statusOf(principal: Principal, { request_id: requestId }: Kept): Promise<Subagent['status']> {
    if (requestId === '') return 'READY';
    const request = await this.#options.engine.runs.find({ owner: principal.id, requestId });
    if (request === undefined) return GONE.status;
    if (!request.isFinished) return 'RUNNING';
    const final = await finalOf(request.read(-1));
    return final.status === 'failed' || final.response_kind === 'e2a.error' ? 'FAILED' : 'COMPLETED';
  }

  /** Sends a request that continues on its own; resolves when it is recorded. */
  async #accepted(principal: Principal, request: SubagentRequest): Promise<void> {
    let onAccepted = () => {};
    const accepted = new Promise<void>((resolve) => {
      onAccepted = resolve;
    });
    const reading = finalOf(this.#ask(principal, request, onAccepted));
    // The end of the request is read from the journal.
    await Promise.race([accepted, reading]);
    reading.catch((error) => this.#options.log.debug({ error: String(error) }, 'a delegated request ended early'));
  }

  #ask(principal: Principal, { agent, method, params, ...more }: SubagentRequest, onAccepted = () => {}) {
    const { engine, ids, log } = this.#options;
    const envelope = question({
      agent,
      ...(method !== undefined && { method }),
      params,
      call: { principal, hops: 0 },
      ids,
    });
    const { signal } = new AbortController();
    // The wire has already counted the message for this request.
    const beside = { counted: true, onAccepted };
    return engine.handle({ ...envelope, ...more }, { principal, signal, log, beside });
  }
}

type Spawning = Parameters<Subagents['spawn']>[1];
type Delegating = Parameters<Subagents['delegate']>[1];

interface SubagentRequest extends Partial<Pick<E2AEnvelope, 'session_id' | 'request_id'>> {
  readonly agent: string;
  readonly method?: string;
  readonly params: JsonObject;
}

/** The stored record of a subagent. */
interface Kept {
  readonly name: string;
  readonly role: string;
  readonly model: string;
  readonly max_steps: number;
  readonly metadata: JsonObject;
  readonly session_id: string;
  /** The number of tasks that the subagent has received. */
  readonly steps: number;
  readonly request_id: string;
  readonly task_name: string;
}

function placeOf({ id }: Principal): RowPlace {
  return { owner: id, name: '' };
}

async function finalOf(frames: AsyncIterable<E2AResponse>): Promise<E2AResponse> {
  const final = await wholeAnswer(frames);
  if (final === undefined) throw new Error('an answer ended without its final frame');
  return final;
}

const MOST_SUBAGENTS = 64;
/** The result after the journal has deleted the answer. */
const GONE: SubagentResult = {
  status: 'FAILED',
  result: null,
  error: 'The request is not recorded any more, or was never made.',
};
