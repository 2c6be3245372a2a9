import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import type { QuestionAnswer } from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { sharedBytes } from '../text/long-text.ts';
import type { ApiAnswer, Effects, StoredValue } from './effects.ts';
import { loadOperations } from './load-operations.ts';
import { type AskMemory, hasMemoryFor } from './memory-need.ts';
import { compileChecked, type Plan } from './plan.ts';
import {
  type EffectRequest,
  type FromWorker,
  OUT_OF_MEMORY,
  type RunRequest,
  remember,
  type ToWorker,
  type WorkerSetup,
} from './pool-messages.ts';
import { portRequest } from './ported-request.ts';
import { MemoryResultCache } from './result-cache.ts';
import { resultsText } from './results-text.ts';
import { runPlan } from './run.ts';
import { dataError, workflowError } from './step-error.ts';
import { Turns } from './turns.ts';

// A thread that runs several executions at a time, which mostly wait. The main thread performs all their effects, so
// that they can only delay each other.

if (parentPort === null) throw new Error('worker.ts runs in a worker only');
const port = parentPort;
const setup: WorkerSetup = workerData;

const clock = {
  elapsed: () => performance.now(),
  after: (milliseconds: number, callback: () => void) => {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

const busy = new Int32Array(setup.busy);
const turns = new Turns(clock, 8);
const plans = new Map<string, Plan>();
const runs = new Map<number, LiveRun>();
const outgoing: FromWorker[] = [];
const transfers: Transferable[] = [];

interface LiveRun {
  readonly controller: AbortController;
  readonly asks: Map<number, { resolve(value: unknown): void; reject(error: Error): void }>;
}

async function serve(): Promise<void> {
  const { catalog } = await loadOperations(setup.operations);
  const cache = new MemoryResultCache({ clock, maxBytes: setup.cacheBytes });

  const planOf = ({ planHash, workflow }: RunRequest): Plan => {
    let plan = plans.get(planHash);
    if (plan === undefined) {
      if (workflow === undefined) throw new Error('the plan is not here');
      plan = compileChecked(workflow, catalog, planHash);
      remember(plans, planHash, plan);
    }
    return plan;
  };

  const start = async (run: number, request: RunRequest): Promise<void> => {
    const live: LiveRun = { controller: new AbortController(), asks: new Map() };
    runs.set(run, live);
    const { status, results, written, skipped, errors, used } = await runPlan(planOf(request), {
      effects: effectsOf(run, live),
      clock,
      timeoutMs: request.timeoutMs,
      signal: live.controller.signal,
      budgets: request.budgets,
      onError: request.onError,
      ...(request.tellsProgress && { onProgress: (progress) => say({ kind: 'progress', run, progress }) }),
      ...(request.caller !== undefined && { cache: cache.of(request.caller) }),
      breathe: () => {
        busy[0] = run;
        return turns.breathe()?.then(() => {
          busy[0] = run;
        });
      },
      askMemory,
    });
    runs.delete(run);
    askMemory(used.dataBytes);
    const text = serialized(() => resultsText(results, written));
    const end = text === undefined ? { status: 'error' as const, errors: [...errors, UNTELLABLE] } : { status, errors };
    say({ kind: 'end', run, result: { ...end, results: sharedBytes(text ?? '{}'), skipped, used } });
  };

  const take = (message: ToWorker): void => {
    if (message.kind === 'forget') cache.forget(message.caller);
    else if (message.kind === 'run') void start(message.run, message.request);
    else if (message.kind === 'abort') runs.get(message.run)?.controller.abort(new Refused(message.failure));
    else {
      const asks = runs.get(message.run)?.asks;
      const ask = asks?.get(message.ask);
      asks?.delete(message.ask);
      if (message.kind === 'answer') ask?.resolve(message.value);
      else ask?.reject(new Refused(message.failure));
    }
  };

  port.on('message', (messages: readonly ToWorker[]) => {
    turns.begin();
    for (const message of messages) take(message);
  });
}

/** Stops before the memory limit; the execution runs again elsewhere, alone. */
const askMemory: AskMemory = (bytes) => {
  if (!hasMemoryFor(bytes)) process.exit(OUT_OF_MEMORY);
};

/** `undefined` if the results are nested too deeply to be serialized, which is an error of the workflow. */
function serialized(write: () => string): string | undefined {
  try {
    return write();
  } catch {
    return undefined;
  }
}

/** Effects that the main thread performs. */
function effectsOf(run: number, live: LiveRun): Effects {
  let last = 0;
  const ask = (effect: EffectRequest, ...large: readonly (Uint8Array | undefined)[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      last += 1;
      const answered = (value: unknown) => {
        busy[0] = run;
        resolve(value);
      };
      live.asks.set(last, { resolve: answered, reject });
      say({ kind: 'ask', run, ask: last, effect }, ...large);
    });
  return {
    call: (key, request, digest) => {
      const ported = portRequest(request);
      const body =
        ported.body === undefined ? undefined : 'bytes' in ported.body ? ported.body.bytes : ported.body.json;
      return ask({ name: 'call', key, request: ported, digest }, body) as Promise<ApiAnswer>;
    },
    ask: (key, request, digest) => ask({ name: 'ask', key, request, digest }, request.params) as Promise<Uint8Array>,
    store: (key, write, digest) => ask({ name: 'store', key, write, digest }, write.json) as Promise<void>,
    wait: (key, milliseconds, digest) => ask({ name: 'wait', key, milliseconds, digest }) as Promise<void>,
    approve: (key, request, digest) => ask({ name: 'approve', key, request, digest }) as Promise<QuestionAnswer>,
    now: (key, digest) => ask({ name: 'now', key, digest }) as Promise<number>,
    stored: (key, of) => ask({ name: 'stored', key, of }) as Promise<StoredValue | undefined>,
  };
}

/** Sends all messages of one turn as one batch. */
function say(message: FromWorker, ...large: readonly (Uint8Array | undefined)[]): void {
  for (const bytes of large) if (bytes !== undefined) transfers.push(bytes.buffer as ArrayBuffer);
  if (outgoing.push(message) === 1) process.nextTick(flush);
}

function flush(): void {
  port.postMessage(outgoing.splice(0), transfers.splice(0));
}

const LONGEST_TIMER = 2_147_483_647;
const UNTELLABLE = workflowError(
  dataError('The results are nested too deep to be returned.', {
    suggestions: ['write the result of an operation to a separate path, not into its input'],
  }),
);

await serve();
