import { nearest } from '../../nearest.ts';
import { show } from '../../validation.ts';
import { nameOf, type Read } from '../member.ts';
import { canonicalPath, covers, formatPath, type Path, parsePath } from '../path.ts';
import type { DataState } from './data-state.ts';
import { about, type Draft, type Examined, type Subject } from './rule.ts';

/**
 * The findings for a read that no earlier operation satisfies. They name possible writers, or the path that was
 * probably meant.
 */
export function missingRead(subject: Subject, operation: Examined, read: Read, state: DataState): readonly Draft[] {
  const { path, pointer } = read;
  if (path.root === 'store' && isStored(subject, path)) return [];
  const what = `${nameOf(pointer)} reads ${formatPath(path)}`;
  const writers = subject.writersAround(path);
  const others = writers.filter(({ id }) => id !== operation.id);
  const running = others.filter(({ id }) => subject.reached.has(id));
  const [first] = running;
  if (first !== undefined) {
    const listed = subject.order.includes(first.id);
    const message = listed
      ? `${what} before ${first.id} writes it`
      : `${what}, which ${first.id} writes, but not before ${operation.id} runs`;
    const suggestion = listed
      ? `put ${first.id} before ${operation.id} in operationOrder`
      : `run ${first.id} before ${operation.id}`;
    return [about(operation, pointer, { code: 'read_before_write', message, suggestion })];
  }
  const [idle] = others;
  if (idle !== undefined) {
    const message = `${what}, which only ${idle.id} writes, and that never runs`;
    return [
      about(operation, pointer, { code: 'path_not_produced', message, suggestion: `add ${idle.id} to operationOrder` }),
    ];
  }
  if (path.root === 'store' && subject.context.stored === undefined) {
    const message = `${what}, which no operation stores; an earlier execution must have stored it`;
    return [about(operation, pointer, { code: 'maybe_stored', message })];
  }
  const message =
    writers.length > 0 ? `${what}, which only this operation writes` : `${what}, which no operation writes`;
  const suggestion = probablyMeant(subject, path, state);
  return [
    about(operation, pointer, { code: 'path_not_produced', message, ...(suggestion !== undefined && { suggestion }) }),
  ];
}

function isStored({ context }: Subject, path: Path): boolean {
  return [...(context.stored ?? [])].some((key) => {
    const stored = parsePath(`/store/${key}`);
    return stored.ok && covers(stored.path, path);
  });
}

/** Suggests the output path of an operation named by its id, the nearest path, or the available ones. */
function probablyMeant({ operations, context }: Subject, path: Path, state: DataState): string | undefined {
  const named = path.keys.slice(1).map((key) => operations.get(key));
  const output = named.find((operation) => operation !== undefined && operation.uses.writes.length > 0);
  const written = output?.uses.writes[0];
  if (output !== undefined && written !== undefined) {
    return `did you mean ${formatPath(written.path)}, written by ${output.id}?`;
  }
  const readable = new Map([...state.all()].map((known) => [canonicalPath(known.path), known.by.join(' or ')]));
  for (const key of context.stored ?? []) readable.set(`/store/${key}`, 'an earlier execution');
  // The root is not compared: it would make short names look alike.
  const start = `/${path.root}/`;
  const near = [...readable.keys()]
    .filter((place) => place.startsWith(start))
    .map((place) => place.slice(start.length));
  const close = nearest(path.keys.slice(1).join('/'), near);
  if (close !== undefined) return `did you mean ${start}${close}, written by ${readable.get(start + close)}?`;
  if (path.keys[1] === 'item' || path.keys[1] === 'index') return `${show(path.keys[1])} exists inside a Loop only`;
  const some = [...readable].slice(0, 4).map(([place, by]) => `${place} (${by})`);
  if (some.length > 0) return `available here: ${some.join(', ')}`;
  // An outputPath cannot be below /store.
  if (path.root === 'store')
    return `add a StoreData with the key ${show(formatPath(path).slice(start.length))} before it`;
  return `add an operation before it that writes ${canonicalPath(path)}`;
}
