import type { Json, JsonObject } from '@dragoman/protocols';
import type { ChainNode } from '@dragoman/protocols/a2e-wire';
import { describe, expect, test } from 'vitest';
import { type ChainStep, type NodeEvent, runChain } from './chain-run.ts';

function node(fields: Partial<ChainNode> & { node_id: string }): ChainNode {
  return {
    kind: 'tool',
    name: fields.node_id,
    input: {},
    input_map: {},
    condition: '',
    true_node: '',
    false_node: '',
    items_path: '',
    map_node: '',
    next_node: '',
    on_error: 'abort',
    ...fields,
  };
}

/** Tools of the tests: they echo their input, or fail when it says so. */
async function echo({ name, input }: ChainStep): Promise<Json> {
  if (name === 'fails' || input['item'] === 'bad') throw new Error('it broke');
  return { answer: input };
}

function wide(members: number): JsonObject {
  return Object.fromEntries(Array.from({ length: members }, (_, at) => [`m${at}`, at]));
}

async function run(
  nodes: ChainNode[],
  given: {
    input?: JsonObject;
    entry?: string;
    runStep?: (step: ChainStep) => Promise<Json>;
    signal?: AbortSignal;
  } = {},
) {
  const events: NodeEvent[] = [];
  const { input = {}, entry = nodes[0]?.node_id ?? '', runStep = echo, signal = new AbortController().signal } = given;
  const outcome = await runChain({ nodes, entry, input, signal, runStep, emit: (event) => events.push(event) });
  return { ...outcome, phases: events.map(({ nodeId, phase }) => `${nodeId} ${phase}`), events };
}

describe('a walk', () => {
  test('whose steps hand on everything twice ends before it has doubled too often', async () => {
    const nodes = Array.from({ length: 60 }, (_, at) =>
      node({ node_id: `n${at}`, input_map: { a: '$', b: '$' }, next_node: at < 59 ? `n${at + 1}` : '' }),
    );
    const { success, error, outputs, nodesRun } = await run(nodes, { input: { text: 'x'.repeat(1000) } });
    expect({ success, error }).toEqual({
      success: false,
      error: {
        code: 'chain_error',
        message:
          'the outputs of all steps of a chain may have at most 3145728 bytes together; pass on only the needed fields',
      },
    });
    expect(nodesRun).toBeLessThan(15);
    expect(JSON.stringify(outputs).length).toBeLessThan(2 ** 22);
  });

  test('whose map gives everything to each item ends as well', async () => {
    const { error } = await run(
      [
        node({ node_id: 'all', kind: 'map', map_node: 'one', items_path: '$.list' }),
        node({ node_id: 'one', input_map: { all: '$' } }),
      ],
      { input: { list: new Array(1000).fill('x'.repeat(100)) }, runStep: async () => null },
    );
    expect(error?.message).toContain('the inputs of all steps of a chain may have at most 16777216 bytes together');
  });

  test('whose conditions put everything together ends too', async () => {
    const nodes = Array.from({ length: 60 }, (_, at) =>
      node({ node_id: `n${at}`, condition: '$ == 1', next_node: at < 59 ? `n${at + 1}` : '' }),
    );
    const { error, nodesRun } = await run(nodes, { input: { text: 'x'.repeat(1_000_000) } });
    expect(error?.message).toContain('the inputs of all steps of a chain may have at most 16777216 bytes together');
    expect(nodesRun).toBe(0);
    const few = await run(nodes.slice(-10), { input: { text: 'x'.repeat(1_000) } });
    expect([few.success, few.phases.length]).toEqual([true, 10]);
  });

  test.each<[string, (size: number) => Partial<ChainNode>]>([
    [
      'condition has at most 10000 characters; this one has 10001',
      (size) => ({ condition: `1 == 1${' '.repeat(size - 6)}` }),
    ],
    ['input has at most 10000 members; this one has 10001', (size) => ({ input: wide(size) })],
    ['input_map has at most 10000 members; this one has 10001', (size) => ({ input_map: wide(size) })],
  ])('with a node as large as a message is not started: %s', async (words, sized) => {
    const nodes = (size: number) => [
      node({ node_id: 'first', next_node: 'wide' }),
      node({ node_id: 'wide', ...sized(size) }),
    ];
    expect(await run(nodes(10_001))).toMatchObject({
      error: { code: 'chain_error', message: `"wide": ${words}` },
      nodesRun: 0,
    });
    expect(await run(nodes(10_000))).toMatchObject({ success: true, nodesRun: 2 });
  });

  test('looks nothing up in a large input but what its nodes name', async () => {
    let reads = 0;
    const input = new Proxy({ a: 1, b: 2 } as JsonObject, {
      ownKeys: (target) => {
        reads += 1;
        return Reflect.ownKeys(target);
      },
    });
    const { outputs } = await run(
      [
        node({ node_id: 'first', condition: '$.a == 1', input_map: { it: '$.b' }, next_node: 'all' }),
        node({ node_id: 'all', kind: 'map', map_node: 'one', items_path: '$.input.none' }),
        node({ node_id: 'one' }),
      ],
      { input },
    );
    expect(outputs['first']).toEqual({ answer: { it: 2 } });
    expect(reads).toBe(0);
  });

  test('lets others have their turn between steps that answer at once', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const nodes = Array.from({ length: 50 }, (_, at) =>
      node({ node_id: `n${at}`, next_node: at < 49 ? `n${at + 1}` : '' }),
    );
    const runStep = async () => {
      for (const end = performance.now() + 3; performance.now() < end; );
      return null;
    };
    const { success } = await run(nodes, { runStep });
    clearInterval(timer);
    expect(success).toBe(true);
    expect(turns).toBeGreaterThan(10);
  });

  test('goes from node to node, and each finds what those before it gave', async () => {
    const { success, outputs, finalOutput, nodesRun, phases } = await run(
      [
        node({ node_id: 'a', input: { x: 1, y: 1 }, input_map: { y: '$.start', z: '$.input.start' }, next_node: 'b' }),
        node({ node_id: 'b', input_map: { from: '$.a.answer.y', price: '$5' } }),
      ],
      { input: { start: 7 } },
    );
    expect(outputs).toEqual({ a: { answer: { x: 1, y: 7, z: 7 } }, b: { answer: { from: 7, price: '$5' } } });
    expect(finalOutput).toEqual({ answer: { from: 7, price: '$5' } });
    expect({ success, nodesRun }).toEqual({ success: true, nodesRun: 2 });
    expect(phases).toEqual(['a start', 'a done', 'b start', 'b done']);
  });

  test.each([
    [5, ['big']],
    [1, ['small']],
  ])('takes the branch whose condition holds: %i', async (n, run_) => {
    const { outputs } = await run(
      [
        node({ node_id: 'if', kind: 'branch', condition: '$.n > 3', true_node: 'big', false_node: 'small' }),
        node({ node_id: 'big' }),
        node({ node_id: 'small' }),
      ],
      { input: { n } },
    );
    expect(Object.keys(outputs)).toEqual(run_);
  });

  test('passes over a node whose condition does not hold', async () => {
    const { phases, success } = await run([
      node({ node_id: 'a', condition: '$.n', next_node: 'b' }),
      node({ node_id: 'b' }),
    ]);
    expect(phases).toEqual(['a skip', 'b start', 'b done']);
    expect(success).toBe(true);
  });
});

describe('a map', () => {
  const map = [
    node({ node_id: 'each', kind: 'map', items_path: '$.list', map_node: 'one', next_node: 'after' }),
    node({ node_id: 'one' }),
    node({ node_id: 'after', input_map: { all: '$.each' } }),
  ];

  test('runs its node for each item and keeps their order; a failed one is null and makes it unsuccessful', async () => {
    const { outputs, success, error } = await run(map, { input: { list: [1, 'bad', 3] } });
    expect(outputs['each']).toEqual([{ answer: { item: 1 } }, null, { answer: { item: 3 } }]);
    expect(outputs['one']).toEqual({ answer: { item: 3 } });
    expect(outputs['after']).toEqual({ answer: { all: outputs['each'] } });
    expect(success).toBe(false);
    expect(error).toEqual({ code: 'chain_node_error', message: 'item 1 of node "each": it broke' });
  });

  test('an item is available by name for a node that maps its input', async () => {
    const named = map.map((one) =>
      one.node_id === 'one' ? { ...one, input_map: { it: '$.item.x', at: '$.index' } } : one,
    );
    const { outputs } = await run(named, { input: { list: [{ x: 'a' }] } });
    expect(outputs['one']).toEqual({ answer: { it: 'a', at: 0 } });
  });

  test('runs at most eight at once', async () => {
    let running = 0;
    let most = 0;
    const runStep = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return null;
    };
    await run(map, { input: { list: Array.from({ length: 40 }, (_, index) => index) }, runStep });
    expect(most).toBe(8);
  });

  test('passes over an item for which the condition of its node does not hold', async () => {
    const { success, outputs, phases } = await run(
      [
        node({ node_id: 'all', kind: 'map', map_node: 'one', items_path: '$.list' }),
        node({ node_id: 'one', condition: '$.item > 1' }),
      ],
      { input: { list: [1, 2] } },
    );
    expect(success).toBe(true);
    expect(outputs['all']).toEqual([null, { answer: { item: 2 } }]);
    expect(phases).toEqual(['all start', 'one skip', 'one start', 'one done', 'all done']);
  });

  test.each([
    ['begins nothing more', 0, [0], []],
    ['stops what else of it is running', 3, [0, 1, 2, 3], [0, 1, 2]],
  ])('that cannot continue %s', async (_, tooLarge, startedNodes, ended) => {
    const [started, stopped]: [Json[], Json[]] = [[], []];
    const runStep = ({ input: { item = null }, signal }: ChainStep) => {
      started.push(item);
      if (item === tooLarge) return Promise.resolve('x'.repeat(4_000_000));
      return new Promise<Json>((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped.push(item);
          reject(signal.reason);
        }),
      );
    };
    const { error, outputs } = await run(map, { input: { list: [0, 1, 2, 3] }, runStep });
    expect(error?.code).toBe('chain_error');
    expect(outputs).toEqual({});
    await new Promise((resolve) => setImmediate(resolve));
    expect([started, stopped]).toEqual([startedNodes, ended]);
  });

  test('wants a list', async () => {
    const { error } = await run(map, { input: { list: 'no' } });
    expect(error?.message).toContain('items_path "$.list" must give a list, but it is "no"');
    const missing = await run(map);
    expect(missing.error?.message).toContain('items_path "$.list" must give a list, but it does not exist');
  });
});

describe('a node that fails', () => {
  const after = node({ node_id: 'after' });

  test('ends the chain by default', async () => {
    const { success, error, phases } = await run([node({ node_id: 'fails', next_node: 'after' }), after]);
    expect(error).toEqual({ code: 'chain_node_error', message: 'node "fails": it broke' });
    expect(phases).toEqual(['fails start', 'fails error']);
    expect(success).toBe(false);
  });

  test('names the paths that found nothing, which its tool was given as null', async () => {
    const fails = node({ node_id: 'fails', input_map: { a: '$.none', b: '$.bb', c: 'c' } });
    const { error, events } = await run([fails], { input: { none: null } });
    const words = 'it broke; input_map found nothing at "$.bb" for "b"';
    expect(error?.message).toBe(`node "fails": ${words}`);
    expect(events.at(-1)?.error).toBe(words);
    const many = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`m${at}`, `$.x${at}`]));
    const { error: cut } = await run([node({ node_id: 'fails', input_map: many })]);
    expect(cut?.message).toMatch(/at "\$\.x1" for "m1", at "\$\.x2" for "m2" and 2 more$/);
  });

  test('is passed over, or handed to another node; the chain has not succeeded all the same', async () => {
    const skipped = await run([node({ node_id: 'fails', next_node: 'after', on_error: 'skip' }), after]);
    expect(skipped.phases).toEqual(['fails start', 'fails skip', 'after start', 'after done']);
    const handled = await run([node({ node_id: 'fails', on_error: 'after' }), after]);
    expect(handled.phases).toEqual(['fails start', 'fails error', 'after start', 'after done']);
    expect([skipped.success, handled.success]).toEqual([false, false]);
  });

  test('has null for its output, also where it is the last', async () => {
    const last = node({ node_id: 'fails', on_error: 'skip' });
    const { outputs, finalOutput } = await run([node({ node_id: 'a', next_node: 'fails' }), last]);
    expect(outputs).toEqual({ a: { answer: {} }, fails: null });
    expect(finalOutput).toBeNull();
  });
});

describe('a chain that cannot be run', () => {
  test.each([
    ['bad_entry', [node({ node_id: 'a' })], 'nowhere'],
    ['chain_cycle', [node({ node_id: 'a', next_node: 'b' }), node({ node_id: 'b', next_node: 'a' })], 'a'],
    ['chain_error', [node({ node_id: 'a', next_node: 'nowhere' })], 'a'],
    ['chain_error', [node({ node_id: 'a' }), node({ node_id: 'a' })], 'a'],
    ['chain_error', [node({ node_id: 'a', kind: 'proc' })], 'a'],
    ['chain_error', [node({ node_id: 'a', condition: 'nonsense' })], 'a'],
    ['chain_error', [node({ node_id: 'a', kind: 'map', map_node: 'a' })], 'a'],
  ])('%s', async (code, nodes, entry) => {
    const { success, error } = await run(nodes, { entry });
    expect(success).toBe(false);
    expect(error?.code).toBe(code);
  });

  test.each<[Partial<ChainNode>, string, string[] | undefined]>([
    [
      { kind: 'branch', condition: '$.list[0] == 1' },
      'condition of "it" (/nodes/1/condition): "$.list[0]" has brackets',
      ['write $.list.0'],
    ],
    [{ condition: '$.x = 5' }, 'condition of "it" (/nodes/1/condition): "$.x = 5" is neither', ['write == for equal']],
    [
      { input_map: { 'a/b': '$.list[0]' } },
      'input_map of "it" (/nodes/1/input_map/a~1b): "$.list[0]" has brackets',
      ['write $.list.0'],
    ],
    [
      { kind: 'map', map_node: 'first', items_path: '$.list[*]' },
      'items_path of "it" (/nodes/1/items_path): "$.list[*]" has brackets',
      undefined,
    ],
    [
      { kind: 'map', map_node: 'first', items_path: 'list' },
      'items_path of "it" (/nodes/1/items_path): a list must be given by a path, such as $.list; got "list"',
      undefined,
    ],
  ])('one with an invalid node is not started: %j', async (fields, words, fix) => {
    const nodes = [node({ node_id: 'first', next_node: 'it' }), node({ node_id: 'it', ...fields })];
    const { success, error, nodesRun } = await run(nodes, { input: { x: 5, list: [1] } });
    expect({ success, nodesRun, code: error?.code }).toEqual({ success: false, nodesRun: 0, code: 'chain_error' });
    expect(error?.message).toContain(words);
    expect(error?.suggestions).toEqual(fix);
  });

  test('one that asks for the length of a list ends there: continuing would take the wrong branch', async () => {
    const nodes = [
      node({ node_id: 'if', kind: 'branch', condition: '$.list.length > 0', false_node: 'none' }),
      node({ node_id: 'none' }),
    ];
    const { error, outputs } = await run(nodes, { input: { list: [1] } });
    expect(error).toEqual({
      code: 'chain_error',
      message: 'condition of "if": "$.list.length": the length of lists and texts is not available',
      suggestions: ['write "$.list" alone: it is true unless it is empty'],
    });
    expect(outputs).toEqual({});
  });

  test('one that is cancelled between two steps does not begin the next', async () => {
    const stop = new AbortController();
    const started: string[] = [];
    const runStep = async ({ nodeId }: ChainStep) => {
      started.push(nodeId);
      setImmediate(() => stop.abort(new Error('enough')));
      return null;
    };
    const nodes = [node({ node_id: 'a', next_node: 'b' }), node({ node_id: 'b' })];
    await expect(run(nodes, { runStep, signal: stop.signal })).rejects.toThrow('enough');
    expect(started).toEqual(['a']);
  });

  test('a cancelled one sends no more events', async () => {
    const stop = new AbortController();
    const runStep = async () => {
      stop.abort(new Error('enough'));
      throw new Error('it broke');
    };
    await expect(run([node({ node_id: 'a' })], { runStep, signal: stop.signal })).rejects.toThrow('enough');
  });

  test.each([
    ['a node', [node({ node_id: 'a', next_node: 'b' }), node({ node_id: 'b' })], 1],
    [
      'an item',
      [node({ node_id: 'all', kind: 'map', map_node: 'a', items_path: '$.list' }), node({ node_id: 'a' })],
      8,
    ],
  ])('one that is cancelled while %s runs begins no other, though the steps do not listen', async (_, nodes, most) => {
    const stop = new AbortController();
    let startedNodes = 0;
    const runStep = async () => {
      startedNodes += 1;
      stop.abort(new Error('enough'));
      return null;
    };
    const input = { list: Array.from({ length: 30 }, (_, at) => at) };
    await expect(run(nodes, { input, runStep, signal: stop.signal })).rejects.toThrow('enough');
    expect(startedNodes).toBeLessThanOrEqual(most);
  });
});
