import type { JsonObject } from '@dragoman/protocols';
import fc from 'fast-check';

/** Where a generated workflow calls: `from` with a credential, `open` without one, and `to`, which is to get nothing of `from`. */
export interface LeakyHosts {
  readonly from: string;
  readonly open: string;
  readonly to: string;
  readonly credential: string;
}

/** The operations of a workflow by id, in the order they run in; those a Loop or a Conditional runs are not in it. */
export interface LeakyWorkflow {
  readonly operations: Readonly<Record<string, JsonObject>>;
  readonly order: readonly string[];
}

/**
 * Workflows that fetch with a credential, do anything to the answer that the catalogue can do, and send what they have to a
 * foreign host by any place of a request. Many of their operations fail, for the data is often not of the right
 * shape: they are to be run with `onError: continue`.
 */
export function leakyWorkflow(hosts: LeakyHosts): fc.Arbitrary<LeakyWorkflow> {
  const moves = fc.array(fc.tuple(fc.nat(9999), fc.nat(9999), fc.nat(9999)), { minLength: 4, maxLength: 14 });
  return moves.map((list) => {
    const operations: Record<string, JsonObject> = {
      secret: fetch(hosts, '/people', '/workflow/v0', true),
      open: fetch(hosts, '/words', '/workflow/v1', false),
    };
    const order = ['secret', 'open'];
    let written = 2;
    for (const [at, [kind, one, other]] of list.entries()) {
      const read = (number: number) => `/workflow/v${number % written}${PARTS[number % PARTS.length]}`;
      const make = pick(OPERATIONS, kind);
      const outputPath = `/workflow/v${written}`;
      const made = make(
        { hosts, one: read(one), other: read(other), inner: `inner-${at}`, turn: one + other },
        outputPath,
      );
      const { inner, ...own } = made;
      if (inner !== undefined) operations[`inner-${at}`] = inner as JsonObject;
      operations[`op-${at}`] = own;
      order.push(`op-${at}`);
      if (JSON.stringify(made).includes(`"${outputPath}"`)) written += 1;
    }
    // The final result is sent as well.
    for (let number = 0; number < written; number++) {
      operations[`end-${number}`] = send(hosts, `/workflow/v${number}`, list.length + number, `/workflow/e${number}`);
      order.push(`end-${number}`);
    }
    return { operations, order };
  });
}

/** The workflow without the operations that somebody found wanting. */
export function without({ operations, order }: LeakyWorkflow, ids: readonly (string | undefined)[]): LeakyWorkflow {
  const runs = (id: string) => ids.includes(id) || ids.includes(id.replace('op-', 'inner-'));
  const gone = new Set(order.filter(runs).flatMap((id) => [id, id.replace('op-', 'inner-')]));
  return {
    operations: Object.fromEntries(Object.entries(operations).filter(([id]) => !gone.has(id))),
    order: order.filter((id) => !gone.has(id)),
  };
}

interface Material {
  readonly hosts: LeakyHosts;
  readonly one: string;
  readonly other: string;
  readonly inner: string;
  readonly turn: number;
}

function fetch({ from, open, credential }: LeakyHosts, path: string, outputPath: string, secret: boolean): JsonObject {
  const headers = secret ? { 'X-Key': { credentialRef: { id: credential } } } : {};
  return { ApiCall: { method: 'GET', url: `${secret ? from : open}${path}`, headers, outputPath } };
}

/** One call to the foreign host, with the data in any place. */
function send({ to }: LeakyHosts, path: string, turn: number, outputPath: string): JsonObject {
  const places: readonly JsonObject[] = [
    { url: `${to}/take`, body: { path } },
    { url: `${to}/take`, body: { deep: { path }, other: 1 } },
    { url: `${to}/take`, body: `it is {${path}}` },
    { url: `${to}/take?q={${path}}` },
    { url: `${to}/take/{${path}}` },
    { url: `${to}/take`, query: { q: { path } } },
    { url: `${to}/take`, query: { q: `x{${path}}` } },
    { url: `${to}/take`, headers: { 'X-Data': { path } } },
    { url: `${to}/take`, headers: { 'X-Data': `a {${path}}` } },
    { url: `${to}/take`, idempotencyKey: `k-{${path}}` },
  ];
  const place = pick(places, turn);
  const method = 'body' in place || turn % 3 === 0 ? 'POST' : 'GET';
  return { ApiCall: { method, ...place, outputPath } };
}

function pick<T>(list: readonly T[], number: number): T {
  return list[number % list.length] as T;
}

const data =
  (type: string, config: object) =>
  ({ one }: Material, outputPath: string): JsonObject => ({
    [type]: { inputPath: one, ...config, outputPath },
  });

const OPERATIONS: readonly ((material: Material, outputPath: string) => JsonObject)[] = [
  ({ hosts, one, turn }, outputPath) => send(hosts, one, turn, outputPath),
  ({ hosts, other, turn }, outputPath) => send(hosts, other, turn, outputPath),
  ({ hosts }, outputPath) => fetch(hosts, '/people', outputPath, true),
  ({ hosts, one }, outputPath) => fetch(hosts, `/words?q={${one}}`, outputPath, true),
  ({ hosts, inner, one, turn }, outputPath) => ({
    Loop: { inputPath: one, operations: [inner], outputPath, ...(turn % 3 === 0 && { parallel: 2 }) },
    inner: send(hosts, '/loop/item', turn, `/workflow/x${turn % 5}`),
  }),
  ({ hosts, inner, one }, outputPath) => ({
    Loop: { inputPath: one, operations: [inner], outputPath, itemPath: '/workflow/each' },
    inner: fetch(hosts, '/people', '/workflow/fetched', true),
  }),
  ({ inner, one, other }, outputPath) => ({
    Loop: { inputPath: one, operations: [inner], outputPath },
    inner: {
      FormatText: { inputPath: other, format: 'template', template: '{value} {/loop/item}', outputPath: '/workflow/l' },
    },
  }),
  ({ hosts, inner, one, other, turn }) => ({
    Conditional: { condition: { path: one, operator: 'exists' }, ifTrue: [inner] },
    inner: send(hosts, other, turn, '/workflow/c'),
  }),
  ({ inner, one, other }, outputPath) => ({
    Conditional: { condition: { path: one, operator: 'exists' }, ifTrue: [inner] },
    inner: { MergeData: { sources: [other, one], strategy: 'merge', outputPath } },
  }),
  ({ one, turn }) => ({
    StoreData: { inputPath: one, storage: pick(['sessionStorage', 'localStorage', 'file'], turn), key: `k${turn % 3}` },
  }),
  ({ turn }, outputPath) => ({
    FormatText: { inputPath: `/store/k${turn % 3}`, format: 'template', template: '{value}', outputPath },
  }),
  ({ one, other, turn }, outputPath) => ({
    MergeData: {
      sources: [one, other],
      strategy: pick(['concat', 'union', 'intersect', 'deepMerge'], turn),
      outputPath,
    },
  }),
  ({ one, other }, outputPath) => ({
    FormatText: { inputPath: one, format: 'template', template: `{value}{${other}}`, outputPath },
  }),
  ({ one, other }, outputPath) => ({
    Calculate: { inputPath: one, operation: 'add', operand: { path: other }, outputPath },
  }),
  // A part of what is there is replaced by something else.
  ({ one, turn }) => ({
    FormatText: {
      inputPath: one,
      format: 'template',
      template: '{value}',
      outputPath: `/workflow/v${turn % 2}/0/name`,
    },
  }),
  data('FilterData', { conditions: [{ field: 'id', operator: '>', value: 0 }] }),
  data('TransformData', { transform: 'map', config: { fields: { name: 'id' } } }),
  data('TransformData', { transform: 'sort', config: { field: 'name' } }),
  data('TransformData', { transform: 'group', config: { field: 'name' } }),
  data('TransformData', { transform: 'aggregate', config: { field: 'name', operation: 'max' } }),
  data('TransformData', { transform: 'select', config: { field: 'name' } }),
  data('FormatText', { format: 'upper' }),
  data('EncodeDecode', { operation: 'encode', encoding: 'base64' }),
  data('EncodeDecode', { operation: 'encode', encoding: 'url' }),
  data('ExtractText', { pattern: '[a-z]+.*', extractAll: true }),
  data('ValidateData', { validationType: 'email' }),
  data('DateCalculation', { operation: 'add', days: 1 }),
];

const PARTS = ['', '', '', '', '', '', '', '', '', '/0', '/0/name', '[0].name', '/name'] as const;
