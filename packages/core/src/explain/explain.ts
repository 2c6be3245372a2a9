import type { Explanation } from '@dragoman/protocols';
import type { Store } from '../store/store.ts';
import type { ExplainContext, Explained } from './explain-context.ts';
import { explainExecution } from './explain-execution.ts';
import { explainRequest } from './explain-request.ts';

/**
 * Explains the request or execution of this id; with several callers the newest, or the one of `owner`.
 * `undefined` if there is no record: a request refused at the endpoint leaves none.
 */
export async function explain(
  id: string,
  { owner, ...context }: ExplainContext & { readonly owner?: string | undefined },
): Promise<Explanation | undefined> {
  const { store } = context;
  const [requests, executions] = await Promise.all([store.requests.named(id), store.executions.named(id)]);
  const owners = [...requests, ...executions].map((row) => row.owner);
  const isWanted = (row: { readonly owner: string }) => owner === undefined || row.owner === owner;
  const [request, execution] = [requests.find(isWanted), executions.find(isWanted)];
  const isRequest = request !== undefined && request.acceptedAt >= (execution?.acceptedAt ?? 0);
  const explained: Explained | undefined = isRequest
    ? await explainRequest(request, store)
    : execution && (await explainExecution(execution, context));
  if (explained === undefined) return undefined;
  const node = await nodeOf(explained, store);
  return { ...explained, node, also_by: owners.filter((one) => one !== explained.agent_id) };
}

async function nodeOf(
  { kind, agent_id: owner, request_id: id }: Explained,
  { cluster }: Store,
): Promise<string | null> {
  if (cluster === undefined || kind === 'wire') return null;
  const holder =
    kind === 'request'
      ? (await cluster.openRequest({ owner, requestId: id }))?.holder
      : await cluster.holderOf({ owner, executionId: id });
  const node = holder === undefined ? undefined : (await cluster.nodes()).find((one) => one.id === holder);
  return node === undefined ? null : `${node.name} (${node.id})`;
}
