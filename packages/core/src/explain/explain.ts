import type { Explanation } from '@dragoman/protocols';
import type { ExplainContext } from './explain-context.ts';
import { explainExecution } from './explain-execution.ts';
import { explainRequest } from './explain-request.ts';

/**
 * What happened to the request, or the execution, of this id; of several callers' the newest, or the one of `owner`.
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
  const explained = isRequest
    ? await explainRequest(request, store)
    : execution && (await explainExecution(execution, context));
  return explained && { ...explained, also_by: owners.filter((one) => one !== explained.agent_id) };
}
