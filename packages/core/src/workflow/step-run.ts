import { hash } from 'node:crypto';
import {
  DATA_LIMITS,
  isObject,
  type Json,
  type NewQuestion,
  nearest,
  parseJsonBytes,
  type QuestionAnswer,
  show,
} from '@dragoman/protocols';
import { canonicalPath, formatPath, type Path, type WorkflowError } from '@dragoman/protocols/a2e-workflow';
import { unlessAborted } from '../ending/until-aborted.ts';
import { jsonSize } from '../json/json-size.ts';
import type { Account } from './budget.ts';
import type { DataModel, DataWrite } from './data-model.ts';
import { Digest } from './digest.ts';
import type { ApiAnswer, ApiRequest, StoreWrite, TargetRequest } from './effects.ts';
import { type Label, UNLABELLED, unionOfLabels } from './label.ts';
import { memoryOfItems, memoryOfJson } from './memory-need.ts';
import type { ItemResult, ItemRun, StepContext, TargetCall } from './operation.ts';
import { bytesOf, chainedName, type Origin, originOfParts } from './origin.ts';
import type { Step } from './plan.ts';
import { LONGEST_WRITTEN } from './results-text.ts';
import type { PlanRun } from './run.ts';
import { dataError, type StepError } from './step-error.ts';
import { namesIn, storedPath } from './stored-name.ts';

/** Where an operation runs: the data it sees and the place its results and errors go. */
export interface Frame {
  readonly model: DataModel;
  /** The indexes of the loops around the operation: `[3][0]`. */
  readonly suffix: string;
  /** The item of the innermost loop around the operation. */
  readonly item?: { readonly index: number; readonly value: Json };
  readonly digest: Digest;
  readonly results: Map<string, Json>;
  /** The results whose JSON text is already known. */
  readonly written: Map<string, string>;
  readonly errors: WorkflowError[];
}

/** The result of an operation, and its size. */
export interface Produced {
  readonly value: Json;
  readonly bytes: number;
  readonly labels: readonly Label[];
}

/** Data that an earlier execution stored. */
export interface EarlierValue {
  readonly value: Json;
  readonly origin: Origin;
}

export const NOTHING: Produced = { value: null, bytes: 4, labels: UNLABELLED };

/** One run of one operation. */
export class StepRun implements StepContext {
  readonly #run: PlanRun;
  readonly #step: Step;
  readonly #frame: Frame;
  readonly #key: string;
  #bound: number | undefined;
  #lineage: string | (() => string) | undefined;
  #origin: Origin | undefined;
  /** The labels of what the operation read, received and ran, in addition to its declared inputs. */
  #labels: readonly Label[] = UNLABELLED;
  #written: string | undefined;
  #result: { readonly value: Json; readonly bytes: number } | undefined;
  #isCached = false;
  #isOpen = false;
  /** The result of the last operation that this one ran, which an outer loop collects. */
  #inner: Produced | undefined;

  constructor({ run, step, frame, key }: { run: PlanRun; step: Step; frame: Frame; key: string }) {
    this.#run = run;
    this.#step = step;
    this.#frame = frame;
    this.#key = key;
  }

  produce(): Produced | Promise<Produced> {
    const lookups = this.#lookups();
    if (lookups !== undefined) return lookups.then(() => this.#work());
    return this.#work();
  }

  /** Whether the result, or the answer it was made from, is from a cache. */
  get isCached(): boolean {
    return this.#isCached;
  }

  /** The result, once the operation has finished. */
  get result(): { readonly value: Json; readonly bytes: number } | undefined {
    return this.#result;
  }

  /** Whether the operation started a change whose outcome is not known yet. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get operationId(): string {
    return this.#step.id;
  }

  get account(): Account {
    return this.#run.account;
  }

  read(path: Path): Json {
    const value = this.find(path);
    if (value === undefined) throw missing(path, this.#frame.model, this.#frame.errors);
    return value;
  }

  find(path: Path): Json | undefined {
    // An operator's own operation may read more than its description declares, so the labels are added here.
    if (this.#run.isLabelled) this.#label(this.#frame.model.origin(path).labels);
    const value = this.#frame.model.find(path);
    return value === undefined ? this.#alsoAt(path) : value;
  }

  /** The value at another name under which a result can be read, if the path is one. */
  #alsoAt(path: Path): Json | undefined {
    const { by } = this.#frame.model.origin(path);
    const written = by === '' ? undefined : this.#run.stepNamed(by)?.uses.writes[0];
    if (written?.alsoAt === undefined) return undefined;
    const isThere = canonicalPath(path) === `${canonicalPath(written.path)}/${written.alsoAt}`;
    return isThere ? this.#frame.model.find(written.path) : undefined;
  }

  bytesAt(path: Path): number {
    return bytesOf(this.#frame.model.origin(path));
  }

  askMemory(bytes: number): void {
    this.#run.options.askMemory?.(bytes);
  }

  boundedBy(bytes: number): void {
    this.#bound = bytes;
  }

  cameFrom(lineage: string | (() => string)): void {
    this.#lineage = lineage;
  }

  writtenAs(text: string): void {
    // A line break between tokens is valid JSON, but would end the line of an event.
    if (text.length <= LONGEST_WRITTEN && !text.includes('\n') && !text.includes('\r')) this.#written = text;
  }

  async call(request: Omit<ApiRequest, 'operationId' | 'carries'>): Promise<ApiAnswer> {
    const { method, url, query, headers, body, idempotencyKey, idempotent } = request;
    const whole: ApiRequest = {
      operationId: this.operationId,
      method,
      url,
      query,
      headers,
      body,
      idempotencyKey,
      ...(idempotent && { idempotent }),
      timeoutMs: Math.min(request.timeoutMs, this.#run.remaining()),
      carries: this.#allLabels(),
    };
    this.#isOpen = method !== 'GET';
    const answer = await this.#awaited(this.#effects.call(this.#key, whole, this.#digest()));
    this.#isOpen = false;
    if (answer.labels !== undefined) this.#label(answer.labels);
    this.#isCached = answer.cached === true;
    return answer;
  }

  async ask({ target, method, params, timeoutMs }: TargetCall): Promise<Json> {
    const left = this.#run.remaining();
    const whole: TargetRequest = {
      operationId: this.operationId,
      target,
      method,
      params: new TextEncoder().encode(JSON.stringify(params)),
      timeoutMs: Math.min(timeoutMs ?? left, left),
      carries: this.#allLabels(),
    };
    this.#isOpen = true;
    const bytes = await this.#awaited(this.#effects.ask(this.#key, whole, this.#digest()));
    this.#isOpen = false;
    this.account.reserve(bytes.length);
    this.askMemory(memoryOfJson(bytes));
    return JSON.parse(new TextDecoder().decode(bytes)) as Json;
  }

  store(write: Omit<StoreWrite, 'operationId' | 'carries'>): Promise<void> {
    const whole = { ...write, operationId: this.operationId, carries: this.#allLabels() };
    return this.#awaited(this.#effects.store(this.#key, whole, this.#digest()));
  }

  wait(milliseconds: number): Promise<void> {
    return this.#awaited(this.#effects.wait(this.#key, milliseconds, this.#digest()));
  }

  approve(question: NewQuestion): Promise<QuestionAnswer> {
    const request = { operationId: this.operationId, question };
    return this.#awaited(this.#effects.approve(this.#key, request, this.#digest()));
  }

  now(): Promise<number> {
    return this.#awaited(this.#effects.now(this.#key, this.#digest()));
  }

  write(path: Path, value: Json): void {
    const inputs = this.#inputs();
    this.#frame.model.write(path, value, { ...inputs, labels: this.#allLabels(), by: this.operationId });
  }

  async run(operations: readonly string[]): Promise<Json> {
    this.#inner = await this.#run.sequence(operations, this.#frame);
    this.#label(this.#inner.labels);
    return this.#inner.value;
  }

  async runFor(item: ItemRun): Promise<ItemResult> {
    const { index, scope, operations, apart } = item;
    const suffix = `${this.#frame.suffix}[${index}]`;
    if (apart) return this.#runApart(suffix, item);
    const { model } = this.#frame;
    const before = scope.map(([path]) => ({ path, value: model.find(path), origin: model.origin(path) }));
    for (const [path, value] of scope) model.write(path, value, this.#itemOrigin(index, item));
    try {
      const produced = await this.#run.sequence(operations, { ...this.#frame, suffix, item: itemOf(item) });
      this.#label(produced.labels);
      return { ...produced, adopt: () => {} };
    } finally {
      for (const { path, value, origin } of before) {
        if (value === undefined) model.remove(path);
        else model.write(path, value, origin);
      }
    }
  }

  /** Runs one item on a fork of the data. Results, errors and digests are merged in the order of the items. */
  async #runApart(suffix: string, item: ItemRun): Promise<ItemResult> {
    const { scope, operations } = item;
    const { model, writes } = this.#frame.model.fork();
    for (const [path, value] of scope) model.write(path, value, this.#itemOrigin(suffix, item));
    const bound = writes.length;
    const frame: Frame = {
      model,
      suffix,
      item: itemOf(item),
      digest: new Digest(chainedName(this.#digest(), suffix)),
      results: new Map(),
      written: new Map(),
      errors: [],
    };
    const adopt = () => {
      for (const { path, value, origin } of writes.slice(bound).filter((write) => !isIn(scope, write))) {
        this.#frame.model.write(path, value, origin);
      }
      for (const [id, value] of frame.results) this.#keep(id, value, frame.written.get(id));
      this.#frame.errors.push(...frame.errors);
      this.#frame.digest.add(suffix, frame.digest.name());
    };
    try {
      const produced = await this.#run.sequence(operations, frame);
      this.#label(produced.labels);
      return { ...produced, adopt };
    } catch (error) {
      adopt();
      throw error;
    }
  }

  #itemOrigin(place: string | number, { independent }: ItemRun): Origin {
    const inputs = this.#inputs();
    const labels = independent === true ? inputs.labels : this.#allLabels();
    return { ...inputs, lineage: chainedName(inputs.lineage, String(place)), labels, by: this.operationId };
  }

  get #effects() {
    return this.#run.options.effects;
  }

  #digest(): string {
    return this.#frame.digest.name();
  }

  #awaited<T>(answer: Promise<T>): Promise<T> {
    // The result of an effect has no lineage unless `cameFrom` sets one.
    this.#lineage ??= '';
    return unlessAborted(answer, this.#run.ending);
  }

  /** The common origin of all declared inputs. */
  #inputs(): Origin {
    this.#origin ??= originOfParts(this.#step.uses.reads.map(({ path }) => this.#frame.model.origin(path)));
    return this.#origin;
  }

  #label(labels: readonly Label[]): void {
    if (labels.length === 0) return;
    this.#run.isLabelled = true;
    this.#labels = unionOfLabels([this.#labels, labels]);
  }

  #allLabels(): readonly Label[] {
    return this.#run.isLabelled ? unionOfLabels([this.#inputs().labels, this.#labels]) : UNLABELLED;
  }

  #work(): Produced | Promise<Produced> {
    const { cache } = this.#run.options;
    const { cacheFor } = this.#step.operation;
    if (cache !== undefined && cacheFor !== undefined) {
      const lineage = this.#lineageOfResult();
      const found = lineage === '' ? undefined : cache.get(lineage);
      this.#isCached = found !== undefined;
      if (found !== undefined) return this.#finish(found);
    }
    if (this.#run.options.askMemory !== undefined) this.askMemory(memoryOfItems(this.#itemsRead()));
    const value = this.#step.work(this);
    return value instanceof Promise ? value.then((later) => this.#finish(later)) : this.#finish(value);
  }

  /** The number of items in all input arrays: a result has at most as many. */
  #itemsRead(): number {
    let items = 0;
    for (const { path } of this.#step.uses.reads) {
      const value = this.#frame.model.find(path);
      if (Array.isArray(value)) items += value.length;
    }
    return items;
  }

  #finish(value: Json): Produced {
    const { id, output, operation } = this.#step;
    const { model, digest } = this.#frame;
    const exact = this.#bound === undefined;
    const sized = this.account.hold(id, value, this.#bound ?? jsonSize(value), exact);
    const labels = this.#allLabels();
    if (output !== undefined || operation.cacheFor !== undefined) {
      const lineage = this.#lineageOfResult();
      if (output !== undefined) model.write(output, value, { lineage, sizes: [sized], labels, by: id });
      if (operation.cacheFor !== undefined && lineage !== '') {
        this.#run.options.cache?.put(lineage, value, { bytes: sized.bytes, seconds: operation.cacheFor });
      }
    }
    this.#keep(id, value, this.#written);
    this.#result = { value, bytes: sized.bytes };
    digest.add(this.#key, value);
    return this.#inner ?? { value, bytes: sized.bytes, labels };
  }

  #keep(id: string, value: Json, as: string | undefined): void {
    const { results, written } = this.#frame;
    results.set(id, value);
    if (as !== undefined) written.set(id, as);
    else written.delete(id);
  }

  #lineageOfResult(): string {
    if (this.#run.options.cache === undefined) return '';
    if (typeof this.#lineage === 'function') return this.#lineage();
    return this.#lineage ?? chainedName(this.#step.lineage, this.#inputs().lineage);
  }

  /** Fetches the stored data that the operation reads. */
  #lookups(): Promise<unknown> | undefined {
    const { storeReads } = this.#step;
    if (storeReads.length === 0) return undefined;
    return Promise.all(storeReads.map((path) => this.#lookUp(path)));
  }

  /** A stored name may contain slashes and dots, so the longest possible name is tried first. */
  async #lookUp(path: Path): Promise<void> {
    for (const name of namesIn(path)) {
      if (this.#frame.model.hasStored(name)) return;
      const stored = await this.#run.lookup(name, () => this.#fetch(name));
      if (stored !== undefined) {
        this.#frame.model.write(storedPath(name), stored.value, stored.origin);
        return;
      }
    }
  }

  async #fetch(name: string): Promise<EarlierValue | undefined> {
    const stored = await this.#awaited(this.#effects.stored(`stored:${name}`, name));
    this.#lineage = undefined;
    if (stored === undefined) return undefined;
    const { bytes, labels } = stored;
    if (labels.length > 0) this.#run.isLabelled = true;
    this.askMemory(memoryOfJson(bytes));
    const parsed = parseJsonBytes(bytes, DATA_LIMITS);
    if (!parsed.ok) throw new Error(`what is stored as ${name} is not JSON`);
    const lineage = this.#run.options.cache === undefined ? '' : hash('sha256', bytes, 'base64url');
    const sized = this.account.hold(`stored:${name}`, parsed.value, bytes.length, true);
    return { value: parsed.value, origin: { lineage, sizes: [sized], labels, by: '' } };
  }
}

/** The error of a missing path: what exists instead, and what was probably meant. */
function missing(path: Path, model: DataModel, errors: readonly WorkflowError[]): StepError {
  const place = formatPath(path);
  const above = model.above(path);
  const written = model.written();
  const close = nearest(place, written.keys());
  const by = close === undefined ? undefined : written.get(close);
  const suggestions: string[] = [];
  if (above !== undefined) suggestions.push(...membersOf(above));
  else if (close !== undefined) suggestions.push(`did you mean ${close}${by ? `, written by ${by}` : ''}?`);
  else if (written.size > 0) suggestions.push(`available here: ${[...written.keys()].slice(0, 6).join(', ')}`);
  const [first] = errors;
  if (first?.operationId !== undefined) suggestions.push(`${first.operationId} failed before; fix that first`);
  return dataError(`${place} is not there`, { details: { path: place }, suggestions });
}

/** Suggestions for a missing member `next`: the members that exist instead. */
function membersOf({ place, value, next }: { place: string; value: Json; next: string }): string[] {
  if (Array.isArray(value)) {
    return [value.length === 0 ? `${place} is an empty array` : `${place} has the items 0 to ${value.length - 1}`];
  }
  if (!isObject(value)) return [`${place} is ${show(value)}, which has no members`];
  const names = Object.keys(value).filter((name) => name.length <= LONGEST_NAME);
  if (names.length === 0) return [`${place} is an empty object`];
  const close = nearest(next, names);
  const shown = names.slice(0, MOST_NAMES);
  const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : '';
  return [
    ...(close === undefined ? [] : [`did you mean ${place}/${close}?`]),
    `${place} has ${shown.join(', ')}${more}`,
  ];
}

const MOST_NAMES = 12;
const LONGEST_NAME = 64;

function itemOf({ index, scope }: ItemRun): { index: number; value: Json } {
  return { index, value: scope[0]?.[1] ?? null };
}

function isIn(scope: ItemRun['scope'], { path }: DataWrite): boolean {
  return scope.some(([place]) => place.keys.every((key, at) => key === path.keys[at]));
}
