import { type JsonObject, nearest, show } from '@dragoman/protocols';
import { DEFAULT_COLUMNS, isMessage, type MessageOf, type WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Clock, Ids } from '../../ports/ports.ts';
import { refuse } from '../../refusals/refused.ts';
import type { MemoriesStore } from '../../store/memories.ts';
import { KeptRows, type RowPlace } from '../kept-rows.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';
import { WireRefused } from '../wire/wire-refused.ts';

export interface PlanningPluginOptions {
  readonly store: MemoriesStore;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * `planning/*`: boards of tasks, each of one caller and session. A session is that of the connection, or the one that
 * `session_id` names, so that an agent finds its board again on another connection and after a restart.
 */
export function planningPlugin(options: PlanningPluginOptions): WirePlugin {
  const planning = new Planning(options);
  return {
    name: 'planning',
    capability: 'planning',
    messages: [
      'planning/plan/create',
      'planning/plan/list',
      'planning/plan/board',
      'planning/task/add',
      'planning/task/update',
      'planning/task/list',
    ],
    handle(message, call) {
      const place = placeOf(message, call);
      if (isMessage(message, 'planning/plan/create')) return planning.create(place, message);
      if (isMessage(message, 'planning/plan/list')) return planning.plans(place);
      if (isMessage(message, 'planning/plan/board')) return planning.boards(place, message.plan_id);
      if (isMessage(message, 'planning/task/add')) return planning.add(place, message);
      if (isMessage(message, 'planning/task/update')) return planning.update(place, message);
      return isMessage(message, 'planning/task/list') ? planning.tasks(place, message) : undefined;
    },
  };
}

function placeOf(message: WireMessage, { session }: WireCall): RowPlace {
  const { session_id: named = '' } = message;
  if (typeof named !== 'string' || named.length > 256) {
    refuse('invalid_message', {}, 'session_id must be a string of at most 256 characters');
  }
  return { owner: session.principal.id, name: named === '' ? session.id : named };
}

class Planning {
  readonly #rows: KeptRows<JsonObject>;
  readonly #ids: Ids;

  constructor({ store, clock, ids }: PlanningPluginOptions) {
    this.#rows = new KeptRows({ store, clock, kind: 'planning' });
    this.#ids = ids;
  }

  async create(place: RowPlace, message: MessageOf<'planning/plan/create'>): Promise<Answered> {
    const { name, description } = message;
    const columns: string[] = message.columns.length === 0 ? [...DEFAULT_COLUMNS] : [...message.columns];
    const isNames = columns.every((column) => column !== '' && column.length <= LONGEST_COLUMN);
    if (!isNames || columns.length > MOST_COLUMNS || new Set(columns).size < columns.length) {
      refuse(
        'invalid_message',
        {},
        `columns must be at most ${MOST_COLUMNS} different names of 1 to ${LONGEST_COLUMN} characters; got ${show(columns)}`,
      );
    }
    const plan = { kind: 'plan', plan_id: this.#ids.hex().slice(0, 12), name, description, columns };
    await this.#rows.keep(place, plan.plan_id, plan);
    return { success: true, plan_id: plan.plan_id, columns };
  }

  async plans(place: RowPlace): Promise<Answered> {
    const { plans, tasks } = await this.#read(place);
    return {
      plans: plans.map(({ plan_id, name, description, columns }) => {
        return { plan_id, name, description, columns, tasks: tasks.filter((task) => task.plan_id === plan_id).length };
      }),
    };
  }

  async boards(place: RowPlace, planId: string): Promise<Answered> {
    const board = await this.#read(place);
    const wanted = planId === '' ? board.plans : [planNamed(board, planId)];
    return {
      boards: wanted.map(({ plan_id, name, columns }) => {
        const own = board.tasks.filter((task) => task.plan_id === plan_id);
        const column = (status: string) => ({
          name: status,
          tasks: own.filter((task) => task.status === status).map(shown),
        });
        return { plan_id, name, columns: columns.map(column) };
      }),
    };
  }

  add(place: RowPlace, message: MessageOf<'planning/task/add'>): Promise<Answered> {
    const { plan_id, title, description, assignee, metadata } = message;
    const deps = [...message.deps];
    return this.#rows.inTurn(place, async () => {
      const board = await this.#read(place);
      const { columns } = planNamed(board, plan_id);
      const isDefault = message.status === DEFAULT_COLUMNS[0] && !columns.includes(message.status);
      const status = isDefault ? (columns[0] ?? '') : message.status;
      requireColumn(status, columns);
      const task_id = this.#ids.hex().slice(0, 12);
      const position = board.tasks.length;
      const task = { kind: 'task', task_id, plan_id, title, status, description, assignee, deps, metadata, position };
      requireDeps(task, board);
      await this.#rows.keep(place, task_id, task);
      return { success: true, task_id, status };
    });
  }

  update(place: RowPlace, message: MessageOf<'planning/task/update'>): Promise<Answered> {
    const { plan_id, task_id, status, assignee, deps } = message;
    return this.#rows.inTurn(place, async () => {
      const board = await this.#read(place);
      const { columns } = planNamed(board, plan_id);
      const before = board.tasks.find((task) => task.task_id === task_id && task.plan_id === plan_id);
      if (before === undefined)
        throw absent(
          'task',
          task_id,
          board.tasks.filter((task) => task.plan_id === plan_id).map((task) => task.task_id),
        );
      if (status !== '') requireColumn(status, columns);
      const task = {
        ...before,
        ...(status !== '' && { status }),
        ...(assignee !== '' && { assignee }),
        ...(deps.length > 0 && { deps }),
      };
      requireDeps(task, board);
      await this.#rows.keep(place, task_id, task as unknown as JsonObject);
      return { success: true, task_id };
    });
  }

  async tasks(place: RowPlace, { plan_id, status }: MessageOf<'planning/task/list'>): Promise<Answered> {
    const board = await this.#read(place);
    if (plan_id !== '') planNamed(board, plan_id);
    const wanted = board.tasks.filter(
      (task) => (plan_id === '' || task.plan_id === plan_id) && (status === '' || task.status === status),
    );
    return { tasks: wanted.map(shown) };
  }

  async #read(place: RowPlace): Promise<Board> {
    const rows = (await this.#rows.list(place)).map(({ value }) => value as unknown as Plan | Task);
    const tasks = rows.filter((row): row is Task => row.kind === 'task');
    return {
      plans: rows.filter((row): row is Plan => row.kind === 'plan'),
      tasks: tasks.sort((a, b) => a.position - b.position),
    };
  }
}

interface Plan {
  readonly kind: 'plan';
  readonly plan_id: string;
  readonly name: string;
  readonly description: string;
  readonly columns: string[];
}

interface Task {
  readonly kind: 'task';
  readonly task_id: string;
  readonly plan_id: string;
  readonly status: string;
  readonly deps: readonly string[];
  readonly position: number;
}

interface Board {
  readonly plans: readonly Plan[];
  readonly tasks: readonly Task[];
}

function shown({ kind, position, ...task }: Task): JsonObject {
  return task as unknown as JsonObject;
}

function planNamed({ plans }: Board, planId: string): Plan {
  const found = plans.find(({ plan_id }) => plan_id === planId);
  if (found !== undefined) return found;
  throw absent(
    'plan',
    planId,
    plans.map(({ plan_id }) => plan_id),
  );
}

function absent(what: string, id: string, known: readonly string[]): WireRefused {
  const close = nearest(id, known);
  const suggestions =
    close === undefined ? [`planning/${what}/list lists the entries of a session`] : [`did you mean ${close}?`];
  return new WireRefused('not_found', `There is no ${what} ${show(id.slice(0, 80))} in this session.`, { suggestions });
}

function requireColumn(status: string, columns: readonly string[]): void {
  if (columns.includes(status)) return;
  refuse('invalid_message', {}, `status must be a column of the plan: ${columns.join(', ')}; got ${show(status)}`);
}

/** Dependencies must be tasks of the same plan, without cycles. */
function requireDeps(task: Pick<Task, 'task_id' | 'plan_id' | 'deps'>, { tasks }: Board): void {
  const own = new Map(tasks.filter(({ plan_id }) => plan_id === task.plan_id).map((one) => [one.task_id, one.deps]));
  const missing = task.deps.find((id) => !own.has(id));
  if (missing !== undefined) throw absent('task', missing, [...own.keys()]);
  const seen = new Set<string>();
  const open = [...task.deps];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === task.task_id) refuse('invalid_message', {}, `deps must not lead back to the task itself, ${show(id)}`);
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(own.get(id) ?? []));
  }
}

const MOST_COLUMNS = 32;
const LONGEST_COLUMN = 64;
