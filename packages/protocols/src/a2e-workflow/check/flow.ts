import { MOST_PROBLEMS, show } from '../../validation.ts';
import { nameOf, type Read } from '../member.ts';
import type { Shape } from '../operations/description.ts';
import { canonicalPath, covers, formatPath, type Path } from '../path.ts';
import { DataState, isIndex, type Known } from './data-state.ts';
import { Labels, type PlaceWriter } from './label.ts';
import { missingRead } from './missing.ts';
import { about, type Draft, type Examined, type Rule, type Subject } from './rule.ts';
import { severityOf } from './severity.ts';

/**
 * Follows the workflow as it would run and tracks what is written when. Both branches of a Conditional are
 * followed; values written by only one of them may be missing, as may values of a Loop's operations, because the array
 * can be empty.
 */
export const dataFlow: Rule = (subject) => {
  const walk = new Walk(subject);
  walk.run(subject.order, new DataState(), OUTSIDE);
  return [...walk.drafts, ...walk.labels.drafts];
};

/** The enclosing controls and loops. */
interface Scope {
  readonly inside: readonly string[];
  readonly loops: readonly Examined[];
}

class Walk {
  readonly drafts: Draft[] = [];
  readonly labels: Labels;
  readonly #subject: Subject;
  #steps = 0;
  /** Reads of places that certainly do not exist. */
  #missing = 0;

  constructor(subject: Subject) {
    this.#subject = subject;
    this.labels = new Labels(subject.context);
  }

  run(ids: readonly string[], state: DataState, scope: Scope): void {
    for (const id of ids) {
      const operation = this.#subject.operations.get(id);
      // Another rule reports cycles; here they only must not be followed endlessly.
      if (operation === undefined || scope.inside.includes(id)) continue;
      if (++this.#steps > this.#subject.limits.steps) {
        this.#tooManySteps();
        return;
      }
      this.#step(operation, state, scope);
    }
  }

  #step(operation: Examined, state: DataState, scope: Scope): void {
    for (const read of operation.uses.reads) this.#read(operation, read, state, scope);
    this.labels.step(operation, this.#writers(operation, state, scope));
    this.#control(operation, state, scope);
    for (const { path, pointer, gives, empties, alsoAt } of operation.uses.writes) {
      this.#write(operation, path, pointer, state, scope);
      const mayBeEmpty = gives?.includes('array') === true && (empties || takesEmpty(operation, state));
      state.write(path, operation.id, { shapes: gives, mayBeEmpty, alsoAt });
    }
  }

  #control(operation: Examined, state: DataState, scope: Scope): void {
    const { targets } = operation.uses;
    if (targets.length === 0) return;
    if (scope.inside.length >= this.#subject.limits.depth) {
      const message = `${operation.id} is inside ${scope.inside.join(' → ')} already; at most ${this.#subject.limits.depth} levels of Conditional and Loop are allowed`;
      this.drafts.push(about(operation, '', { code: 'too_deep', message }));
      return;
    }
    const inside = [...scope.inside, operation.id];
    const each = targets.filter(({ runs }) => runs === 'each');
    if (each.length > 0) {
      this.#loopSize(operation, each.length, state);
      const after = state.copy();
      this.run(idsOf(each), after, { inside, loops: [...scope.loops, operation] });
      state.becomeEither(state.copy(), after);
      // A Loop collects the results of its last operation.
      this.labels.passOn(each.at(-1)?.id ?? '', operation.id);
      return;
    }
    const branches = ['ifTrue', 'ifFalse'].map((list) => {
      const branch = state.copy();
      for (const { path, presentIn } of operation.uses.reads) if (presentIn === list) branch.assume(path, operation.id);
      this.run(idsOf(targets.filter((target) => target.list === list)), branch, { ...scope, inside });
      return branch;
    });
    for (const list of ['ifTrue', 'ifFalse']) {
      const last = targets.filter((target) => target.list === list).at(-1);
      if (last !== undefined) this.labels.passOn(last.id, operation.id);
    }
    const [whenTrue = state, whenFalse = state] = branches;
    state.becomeEither(whenTrue, whenFalse);
  }

  /** The operations that wrote what this one reads. The writer of a loop's item is the loop. */
  #writers({ uses }: Examined, state: DataState, { loops }: Scope): readonly PlaceWriter[] {
    return uses.reads.map(({ path, pointer }) => {
      const items = loops.filter((loop) => isItemOf(loop, path)).map(({ id }) => id);
      return { pointer, by: items.length > 0 ? items.slice(-1) : (state.find(path)?.by ?? []) };
    });
  }

  #read(operation: Examined, read: Read, state: DataState, scope: Scope): void {
    if (this.#isLoopItem(operation, read, scope)) return;
    const known = state.find(read.path);
    if (known === undefined) {
      // Finding the possible writers is slow, so it is skipped after many missing reads.
      if (read.presentIn !== undefined || this.#missing >= MOST_PROBLEMS) return;
      for (const draft of missingRead(this.#subject, operation, read, state)) {
        this.drafts.push(draft);
        if (severityOf(draft.code, 'lenient') === 'error') this.#missing++;
      }
      return;
    }
    if (!known.certain && read.presentIn === undefined) {
      const message = `${nameOf(read.pointer)} reads ${formatPath(read.path)}, which ${list(known.by)} may not have written: it runs only in a branch or for the items of a loop`;
      const suggestion = 'write it in every branch, or check it first with the operator exists of a Conditional';
      this.drafts.push(about(operation, read.pointer, { code: 'maybe_missing', message, suggestion }));
    }
    const step = read.path.keys[known.path.keys.length];
    if (known.mayBeEmpty && step !== undefined && isIndex(step) && read.presentIn === undefined) {
      const message = `${nameOf(read.pointer)} reads ${formatPath(read.path)}, but ${list(known.by)} may return no item`;
      const suggestion = 'check it first with the operator exists of a Conditional';
      this.drafts.push(about(operation, read.pointer, { code: 'empty_input', message, suggestion }));
    }
    const mismatch = typeMismatch(read, known);
    if (mismatch !== undefined) this.drafts.push(about(operation, read.pointer, { code: 'wrong_type', ...mismatch }));
  }

  /**
   * Whether the place is set by a Loop: `/loop/item`, `/loop/index`, the same below `/workflow`, or the loop's own
   * `itemPath`. Reports other places below `/loop`.
   */
  #isLoopItem(operation: Examined, { path, pointer }: Read, { loops }: Scope): boolean {
    if (loops.some((loop) => isItemOf(loop, path))) return true;
    if (path.root !== 'loop') return false;
    const message =
      loops.length > 0
        ? `${nameOf(pointer)} reads ${formatPath(path)}; a loop has /loop/item and /loop/index only`
        : `${nameOf(pointer)} reads ${formatPath(path)} outside a Loop`;
    const suggestion = loops.length > 0 ? 'read below /loop/item' : `name ${operation.id} in the operations of a Loop`;
    this.drafts.push(about(operation, pointer, { code: 'loop_scope', message, suggestion }));
    return true;
  }

  /** Warns about a loop over an API response: the response has any length, but an execution has a limit of steps. */
  #loopSize(loop: Examined, each: number, state: DataState): void {
    const { operations, limits } = this.#subject;
    const [input] = loop.uses.reads;
    const writers = input === undefined ? [] : (state.find(input.path)?.by ?? []);
    if (input === undefined || !writers.some((id) => operations.get(id)?.description?.category === 'api')) return;
    const items = Math.floor(limits.steps / each);
    const message = `${nameOf(input.pointer)} has one item for each item that ${list(writers)} returns; with ${items + 1} items or more, the loop exceeds ${limits.steps} steps`;
    const suggestion = 'filter the array before the loop';
    this.drafts.push(about(loop, input.pointer, { code: 'loop_size', message, suggestion }));
  }

  #write(operation: Examined, path: Path, pointer: string, state: DataState, scope: Scope): void {
    const loops = operation.uses.targets.some(({ runs }) => runs === 'each')
      ? [...scope.loops, operation]
      : scope.loops;
    const input = loops.find(({ uses }) =>
      uses.reads.some((read) => covers(read.path, path) || covers(path, read.path)),
    );
    if (input !== undefined) {
      const own = input.id === operation.id;
      const message = `${nameOf(pointer)} ${formatPath(path)} is the array that ${own ? 'this loop' : `the loop ${input.id}`} iterates over`;
      this.drafts.push(
        about(operation, pointer, { code: 'loop_overwrites_input', message, suggestion: 'write to a separate path' }),
      );
      return;
    }
    const before = state.exactly(path)?.by.filter((id) => id !== operation.id) ?? [];
    if (before.length > 0) {
      const message = `${nameOf(pointer)} ${formatPath(path)} replaces what ${list(before)} wrote`;
      this.drafts.push(about(operation, pointer, { code: 'overwritten_path', message }));
    }
  }

  #tooManySteps(): void {
    if (this.drafts.some(({ code }) => code === 'too_many_steps')) return;
    const message = `the workflow runs more than ${this.#subject.limits.steps} operations, even with every loop run once`;
    this.drafts.push({ pointer: '/operationOrder', code: 'too_many_steps', message });
  }
}

function isItemOf({ uses: { itemPath } }: Examined, path: Path): boolean {
  const [root, name = ''] = path.keys;
  return (LOOP_NAMES.has(name) && root !== 'store') || (itemPath !== undefined && covers(itemPath, path));
}

/** Whether all input arrays of an operation may be empty; then its result may be empty too. */
function takesEmpty({ uses }: Examined, state: DataState): boolean {
  const arrays = uses.reads.filter(({ needs }) => needs?.includes('array'));
  return arrays.length > 0 && arrays.every(({ path }) => state.exactly(path)?.mayBeEmpty === true);
}

/** Whether the known shapes are compatible with the needed ones. */
function typeMismatch(
  { path, pointer, needs }: Read,
  known: Known,
): { message: string; suggestion?: string } | undefined {
  const { shapes } = known;
  if (shapes === undefined) return undefined;
  const what = `${nameOf(pointer)} ${formatPath(path)}`;
  const step = path.keys[known.path.keys.length];
  const isWhole = step === undefined || (step === known.alsoAt && path.keys.length === known.path.keys.length + 1);
  if (isWhole || known.path.keys.length > path.keys.length) {
    if (needs === undefined || needs.some((shape) => shapes.includes(shape))) return undefined;
    const message = `${what} must be ${words(needs)}; ${list(known.by)} writes ${words(shapes)}`;
    return needs.includes('array') && shapes.includes('object')
      ? { message, suggestion: 'pick the array inside it with TransformData select, or read a deeper path' }
      : { message };
  }
  if (shapes.includes('object')) return undefined;
  const writer = `${list(known.by)} writes ${words(shapes)} to ${canonicalPath(known.path)}`;
  if (!shapes.includes('array')) return { message: `${what} has no ${show(step)}: ${writer}` };
  if (isIndex(step)) return undefined;
  const first = `${canonicalPath(known.path)}/0/${path.keys.slice(known.path.keys.length).join('/')}`;
  return { message: `${what} has no ${show(step)}: ${writer}`, suggestion: `read one item, ${first}, or use a Loop` };
}

function idsOf(targets: readonly { readonly id: string }[]): readonly string[] {
  return targets.map(({ id }) => id);
}

function list(ids: readonly string[]): string {
  return ids.join(' or ');
}

function words(shapes: readonly Shape[]): string {
  return shapes.map((shape) => WORDS[shape]).join(' or ');
}

const WORDS: Readonly<Record<Shape, string>> = {
  array: 'an array',
  object: 'an object',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
};
const LOOP_NAMES: ReadonlySet<string> = new Set(['item', 'index']);
const OUTSIDE: Scope = { inside: [], loops: [] };
