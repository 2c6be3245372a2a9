import type { Cluster } from '@dragoman/core';
import { problem } from '../http/problem.ts';
import type { Answer } from '../http/route.ts';

/** This node of the cluster. */
export type OwnNode = Pick<Cluster, 'node'>;

/** An id for something that only this node has open. In a cluster it contains the node. */
export function idAtNode(id: string, cluster: OwnNode | undefined): string {
  return cluster === undefined ? id : `${cluster.node}.${id}`;
}

/**
 * Answer 421 (RFC 9110 §15.5.20) for something that another node has open; `undefined` if the id names no other node.
 */
export function ofOtherNode(
  id: string,
  cluster: OwnNode | undefined,
  { what, header, instead }: { readonly what: string; readonly header: string; readonly instead: string },
): Answer | undefined {
  const [, node] = /^(\d{1,15})\./.exec(id) ?? [];
  if (cluster === undefined || node === undefined || Number(node) === cluster.node) return undefined;
  return problem({
    status: 421,
    code: 'other_node',
    title: `The ${what} belongs to another node.`,
    detail: `The ${what} was opened at node ${node}, and the load balancer sent this request to node ${cluster.node}.`,
    suggestions: [
      `configure the load balancer to send all requests with the same ${header}, or of the same client, to one node`,
      `or open another ${what}`,
      `or use ${instead}, which stays with its node`,
    ],
  });
}
