import { type Engine, RUN_KINDS, type RunKind, type Store } from '@dragoman/core';
import { type Metric, type Sample, single } from './metric.ts';

/** The open connections and streams of the edge. */
export interface EdgeLoad {
  readonly connections: number;
  /** Answers that are being streamed. */
  readonly streams: number;
  readonly sockets: number;
}

/** The work of the engine, the store and the edges: numbers of the whole server, not of single callers. */
export async function serverMetrics({ engine, store, edge }: MeasuredParts): Promise<Metric[]> {
  return [
    ...edgeMetrics(edge()),
    ...engineMetrics(engine),
    ...(await storeMetrics(store)),
    ...(await nodeMetrics(store)),
  ];
}

export interface MeasuredParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly edge: () => EdgeLoad;
}

function edgeMetrics({ connections, streams, sockets }: EdgeLoad): Metric[] {
  return [
    single('gauge', 'dragoman_open_connections', 'Open TCP connections of all kinds.', connections),
    single('gauge', 'dragoman_open_streams', 'HTTP answers that are being streamed.', streams),
    single('gauge', 'dragoman_open_sockets', 'Open WebSockets.', sockets),
  ];
}

function engineMetrics({ runs, limiter }: Engine): Metric[] {
  const { counts, load } = runs.table;
  const finished = RUN_KINDS.flatMap((kind) => finishedOf(kind, counts.finished(kind)));
  const { running, waiting } = load.request;
  return [
    single(
      'counter',
      'dragoman_requests_accepted_total',
      'Recorded requests, without repeats.',
      counts.accepted.request,
    ),
    {
      name: 'dragoman_requests_finished_total',
      help: 'Requests that got their final frame, by outcome: succeeded, an error code, or failed.',
      type: 'counter',
      samples: [...counts.finished('request')].map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    single('gauge', 'dragoman_requests_running', 'Requests that are being answered.', running),
    single('gauge', 'dragoman_requests_waiting', 'Requests that wait for a slot of their agent.', waiting),
    byKind(
      'counter',
      'dragoman_runs_accepted_total',
      'Accepted runs, without repeats.',
      (kind) => counts.accepted[kind],
    ),
    {
      name: 'dragoman_runs_finished_total',
      help: 'Runs that ended, by outcome: succeeded, an error code, or failed.',
      type: 'counter',
      samples: finished,
    },
    byKind('gauge', 'dragoman_runs_running', 'Runs that are being worked on.', (kind) => load[kind].running),
    byKind('gauge', 'dragoman_runs_waiting', 'Runs that wait for a slot.', (kind) => load[kind].waiting),
    single('counter', 'dragoman_frames_total', 'Frames recorded.', counts.frames),
    single('counter', 'dragoman_rate_limited_total', 'Requests refused because of a rate limit.', limiter.refusals),
  ];
}

/** A metric with one value for each kind of run: requests, executions of workflows, calls of tools. */
function byKind(type: 'counter' | 'gauge', name: string, help: string, value: (kind: RunKind) => number): Metric {
  return { name, help, type, samples: RUN_KINDS.map((kind) => ({ labels: { kind }, value: value(kind) })) };
}

function finishedOf(kind: RunKind, finished: ReadonlyMap<string, number>): Sample[] {
  return [...finished].map(([outcome, value]) => ({ labels: { kind, outcome }, value }));
}

/** The metrics of this node in a cluster. Each node reports its own. */
async function nodeMetrics({ cluster }: Store): Promise<Metric[]> {
  if (cluster === undefined) return [];
  const nodes = await cluster.nodes();
  const self = nodes.find(({ isSelf }) => isSelf);
  const live = nodes.filter(({ state }) => state === 'live').length;
  const held = Object.entries(self?.holds ?? {}).map(([kind, value]) => ({ labels: { kind }, value }));
  return [
    single('gauge', 'dragoman_node_id', 'The number of this node; it changes with each start.', cluster.node),
    single('gauge', 'dragoman_nodes_live', 'Nodes that share the database and are alive.', live),
    single(
      'gauge',
      'dragoman_node_clock_skew_ms',
      'Milliseconds by which the clock of this node is ahead of that of the database.',
      self?.skewMs ?? 0,
    ),
    { name: 'dragoman_node_holds', help: 'The work this node is responsible for.', type: 'gauge', samples: held },
  ];
}

async function storeMetrics(store: Store): Promise<Metric[]> {
  const stats = await store.stats?.();
  if (stats === undefined) return [];
  const { writes, commits, commitMs, checkpoints } = stats;
  return [
    single('counter', 'dragoman_store_writes_total', 'Writes; by commits, the size of a batch.', writes),
    single('counter', 'dragoman_store_commits_total', 'Transactions, each with one fsync.', commits),
    single('counter', 'dragoman_store_commit_seconds_total', 'Time spent in transactions.', commitMs / 1000),
    single('counter', 'dragoman_store_checkpoints_total', 'Checkpoints of the write-ahead log.', checkpoints),
  ];
}
