import { failure, type JsonObject } from '@dragoman/protocols';
import { isMessage, type MessageOf } from '@dragoman/protocols/a2e-wire';
import type { ToolEvent } from '../../call/caller-tools.ts';
import type { Principal } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import type { Clock, Ids } from '../../ports/ports.ts';
import { Refused } from '../../refusals/refused.ts';
import { type RunStep, runChain } from '../chain/chain-run.ts';
import type { SessionToolkits } from '../session-toolkits.ts';
import type { Skills } from '../skills.ts';
import type { ToolRegistry } from '../tool-registry.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';

export interface ChainsPluginOptions {
  readonly tools: ToolRegistry;
  readonly skills: Skills;
  readonly toolkits: SessionToolkits;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Counts a step against the caller's limits, or throws: a chain must not bypass them. */
  readonly count: (principal: Principal) => void;
}

/** `chain/*`: runs several steps in one request. The failure of a step is part of the answer, not an error. */
export function chainsPlugin(options: ChainsPluginOptions): WirePlugin {
  return {
    name: 'chains',
    capability: 'chains',
    messages: ['chain/req'],
    handle: (message, call) => (isMessage(message, 'chain/req') ? run(message, call, options) : undefined),
  };
}

async function run(request: MessageOf<'chain/req'>, call: WireCall, options: ChainsPluginOptions): Promise<Answered> {
  const { clock, ids } = options;
  const { nodes, entry_node, initial_input: input, streaming, timeout } = request;
  const startedAt = clock.elapsed();
  const over = new AbortController();
  const limit = timeout > 0 ? Math.min(timeout * 1000, LONGEST_MS) : LONGEST_MS;
  const late = `the chain did not finish within ${limit / 1000} s`;
  const cancel = clock.after(limit, () => over.abort(new Refused(failure('timeout', {}, late))));
  const chain = { chain_id: request.chain_id === '' ? ids.hex().slice(0, 8) : request.chain_id };
  const duration = () => ({ duration_ms: Math.round((clock.elapsed() - startedAt) * 1000) / 1000 });
  try {
    const outcome = await runChain({
      nodes,
      entry: entry_node === '' ? (nodes[0]?.node_id ?? '') : entry_node,
      input,
      signal: call.signal,
      over: over.signal,
      runStep: stepsOf(call, streaming, options),
      emit: ({ nodeId, phase, output, error }) => {
        if (!streaming) return;
        const data = { message: `${nodeId} ${phase}` };
        call.event({ kind: 'status', data, node_id: nodeId, phase, output, error });
      },
    });
    const { success, outputs, finalOutput, nodesRun, error } = outcome;
    return {
      ...chain,
      ...duration(),
      success,
      outputs,
      final_output: finalOutput,
      nodes_run: nodesRun,
      error: error === null ? null : (error as unknown as JsonObject),
    };
  } finally {
    cancel();
  }
}

/** Runs the steps of a chain. A step whose outcome is not a success fails, like one that throws. */
function stepsOf(call: WireCall, streaming: boolean, options: ChainsPluginOptions): RunStep {
  const { tools, skills, toolkits, count } = options;
  let isFirst = true;
  let ending: Ending | undefined;
  return async ({ kind, name, nodeId, input: args, signal }) => {
    // Checked at each step: a caller's permissions can change while its chain runs.
    const { principal } = call.session;
    // The request itself was counted on arrival.
    if (!isFirst) count(principal);
    isFirst = false;
    const onEvent = ({ kind: eventKind, data }: ToolEvent) => {
      if (streaming) call.event({ kind: eventKind, data, node_id: nodeId, phase: 'start' });
    };
    // Shared by all steps: otherwise each would add a listener to the signal until the chain ends.
    ending ??= Ending.of(signal);
    const step = { name, args, principal, ending, onEvent };
    const {
      success,
      data,
      error,
      truncated = false,
    } = kind === 'tool'
      ? await tools.call({ ...step, without: toolkits.hiddenFrom(call.session) })
      : { ...(await skills.call(step)), truncated: false };
    if (truncated) throw new Error('its result is too long for a step, and was cut');
    if (!success) throw new Error(error ?? 'it did not succeed');
    return data;
  };
}

const LONGEST_MS = 3_600_000;
