import { pointerTo, show } from '@dragoman/protocols';
import type { ChainNode } from '@dragoman/protocols/a2e-wire';
import { cutTo } from '../../text/cut-to.ts';
import { type Condition, conditionOf } from './condition.ts';
import { checkExpression, looksLikePath, Unclear } from './expression.ts';

/** Why a chain did not succeed, in the words of the protocol. */
export interface ChainError {
  readonly code: 'bad_entry' | 'chain_cycle' | 'chain_error' | 'chain_node_error' | 'timeout';
  readonly message: string;
  /** Suggested fixes, if known. */
  readonly suggestions?: readonly string[];
}

/** Thrown if a chain cannot continue. */
export class ChainFault extends Error {
  readonly fault: ChainError;

  constructor(code: ChainError['code'], message: string, suggestions: readonly string[] = []) {
    super(message);
    this.fault = { code, message, ...(suggestions.length > 0 && { suggestions }) };
  }
}

/** A node with its compiled condition and checked paths. */
export type ReadyNode = ChainNode & { readonly holds: Condition };

/** The nodes by id. Throws if the chain is invalid, before any node runs. */
export function nodesById(nodes: readonly ChainNode[], entry: string): ReadonlyMap<string, ReadyNode> {
  const byId = new Map<string, ReadyNode>();
  if (nodes.length > MOST_NODES) {
    throw new ChainFault('chain_error', `a chain has at most ${MOST_NODES} nodes; this one has ${nodes.length}`);
  }
  for (const [at, node] of nodes.entries()) {
    if (byId.has(node.node_id)) throw new ChainFault('chain_error', `two nodes are named ${show(node.node_id)}`);
    const excess = excessOf(node);
    if (excess !== undefined) throw new ChainFault('chain_error', `${show(node.node_id)}: ${excess}`);
    byId.set(node.node_id, ready(node, at));
  }
  if (!byId.has(entry)) throw new ChainFault('bad_entry', `entry_node ${show(entry)} is not a node of the chain`);
  for (const node of nodes) {
    if (node.kind === 'proc') {
      throw new ChainFault('chain_error', `${show(node.node_id)}: processes are not run here; use a tool or a skill`);
    }
    for (const [field, target] of targetsOf(node)) {
      if (target === '' || byId.has(target)) continue;
      throw new ChainFault(
        'chain_error',
        `${field} of ${show(node.node_id)} names ${show(target)}, which is not a node`,
      );
    }
    if (node.kind !== 'map') continue;
    const mapped = byId.get(node.map_node);
    if (mapped?.kind !== 'tool' && mapped?.kind !== 'skill') {
      throw new ChainFault('chain_error', `map_node of ${show(node.node_id)} must be a tool or a skill`);
    }
  }
  return byId;
}

function ready(node: ChainNode, at: number): ReadyNode {
  const { node_id: id, kind, condition, items_path, input_map } = node;
  const read = <Value>(path: readonly string[], readIt: () => Value): Value => {
    try {
      return readIt();
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      const pointer = cutTo(pointerTo('', 'nodes', at, ...path), LONGEST_POINTER);
      const where = `${path[0]} of ${show(id)} (${pointer})`;
      throw new ChainFault('chain_error', `${where}: ${error.message}`, error.suggestions);
    }
  };
  if (kind === 'map') read(['items_path'], () => checkItemsPath(items_path));
  for (const [name, expression] of Object.entries(input_map)) {
    read(['input_map', name], () => checkExpression(expression));
  }
  return { ...node, holds: read(['condition'], () => conditionOf(condition)) };
}

function checkItemsPath(path: string): void {
  checkExpression(path);
  if (!looksLikePath(path)) throw new Unclear(`a list must be given by a path, such as $.list; got ${show(path)}`);
}

/** Returns why a node is too large: its input is built again for each item of a map. */
function excessOf({ condition, input, input_map }: ChainNode): string | undefined {
  const { length } = condition;
  if (length > LONGEST_CONDITION)
    return `condition has at most ${LONGEST_CONDITION} characters; this one has ${length}`;
  for (const [field, members] of Object.entries({ input, input_map })) {
    const count = Object.keys(members).length;
    if (count > MOST_MEMBERS) return `${field} has at most ${MOST_MEMBERS} members; this one has ${count}`;
  }
  return undefined;
}

function targetsOf(node: ChainNode): [string, string][] {
  const { next_node, true_node, false_node, map_node, on_error } = node;
  const handler = on_error === 'abort' || on_error === 'skip' ? '' : on_error;
  return Object.entries({ next_node, true_node, false_node, map_node, on_error: handler });
}

const MOST_NODES = 1_000;
const LONGEST_POINTER = 200;
const LONGEST_CONDITION = 10_000;
const MOST_MEMBERS = 10_000;
