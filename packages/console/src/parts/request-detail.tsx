import { DragomanError } from '@dragoman/client';
import type { E2AResponse, Explanation } from '@dragoman/protocols';
import { useState } from 'preact/hooks';
import { useFrames } from '../frame-stream.ts';
import { useLive } from '../live.ts';
import { pageUrl, route } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';
import { Confirm } from './confirm.tsx';
import { Frames } from './frames.tsx';
import { Copy } from './json.tsx';
import { Page } from './page.tsx';
import { Problem } from './problem.tsx';
import { State } from './state.tsx';
import { Text, visibleText } from './text.tsx';
import { When } from './when.tsx';
import { Xray } from './xray.tsx';

/**
 * One request: its frames as they arrive, and its outcome. The owner's key reads the frames live; an admin key reads
 * the record of any request.
 */
export function RequestDetail({ id }: { readonly id: string }) {
  const owner = route.value.query.get('owner') ?? undefined;
  const admin = asAdmin.value?.admin;
  const client = asAgent.value;
  const own = useFrames(client && ((onReconnect, signal) => client.resume(id, { onReconnect, signal })), [client, id]);
  const isOwn = client !== undefined && !(own.error instanceof DragomanError && own.error.is('not_found'));
  const [isEnded, setEnded] = useState(false);
  const record = useLive(
    async () => {
      const explained = await admin?.requests.explain(id, { agentId: owner });
      if (explained !== undefined && ENDED.has(explained.state)) setEnded(true);
      return explained;
    },
    [admin, id, owner],
    isEnded ? undefined : 2000,
  );
  const recorded = record.data?.answers.map(({ frame }) => frame as unknown as E2AResponse) ?? [];
  const frames = isOwn && own.frames.length > 0 ? own.frames : recorded;
  const final = frames.at(-1)?.is_final === true ? frames.at(-1) : undefined;
  const state =
    final === undefined ? (record.data?.state ?? 'running') : final.status === 'failed' ? 'failed' : 'completed';
  return (
    <Page
      title={
        <>
          Request{' '}
          <code>
            <Text value={id} />
          </code>
        </>
      }
      actions={
        <>
          <State state={state} />
          {final === undefined && !ENDED.has(state) && (
            <Cancel id={id} owner={isOwn ? undefined : owner} isOwn={isOwn} />
          )}
          <a href={pageUrl('requests')}>All requests</a>
        </>
      }
    >
      {record.data !== undefined && <Facts explanation={record.data} />}
      <Problem error={isOwn ? own.error : admin === undefined ? own.error : record.error} />
      <section class="panel">
        <div class="bar">
          <h2>Frames</h2>
          <span class="dim" role="status">
            {frames.length.toLocaleString()}
            {isOwn && !own.isOver && ', live'}
            {own.reconnects > 0 && `, resumed ${own.reconnects} times without a gap`}
            {(record.data?.answers_left_out ?? 0) > 0 &&
              !isOwn &&
              `, ${record.data?.answers_left_out} more are recorded`}
          </span>
          <Copy label="Copy as curl" text={curlOf(id)} />
        </div>
        {frames.length === 0 ? <p class="dim">No frame yet.</p> : <Frames frames={frames} />}
      </section>
      {admin === undefined ? (
        <p class="dim">
          With an admin key, this page also shows the received message, the envelope and the permissions.
        </p>
      ) : (
        record.data !== undefined && <Xray explanation={record.data} />
      )}
    </Page>
  );
}

function Facts({ explanation }: { readonly explanation: Explanation }) {
  const { agent_id: owner, accepted_at: accepted, received, kind, node, also_by: others } = explanation;
  return (
    <p class="dim">
      {kind} by <Text value={owner} />, <When at={accepted} />, received as <Text value={received.dialect} /> with{' '}
      {received.bytes.toLocaleString()} bytes
      {node !== null && (
        <>
          , on node <Text value={node} />
        </>
      )}
      {others.map((other) => (
        <>
          {' · '}
          <a key={other} href={`${pageUrl('requests', explanation.request_id)}?owner=${encodeURIComponent(other)}`}>
            the same id by <Text value={other} />
          </a>
        </>
      ))}
    </p>
  );
}

interface CancelParts {
  readonly id: string;
  readonly owner: string | undefined;
  readonly isOwn: boolean;
}

/** Cancels the user's own request at once. For a request of another agent, it needs an admin key and a confirmation. */
function Cancel({ id, owner, isOwn }: CancelParts) {
  const [trouble, setTrouble] = useState<unknown>();
  const [isCancelling, setCancelling] = useState(false);
  const cancel = async () => {
    setCancelling(true);
    try {
      await asAgent.value?.cancel(id);
    } catch (error) {
      setTrouble(error);
      setCancelling(false);
    }
  };
  if (!isOwn) {
    const act = async () => asAdmin.value?.admin.requests.cancel(id, { agentId: owner });
    return (
      <Confirm label="Cancel it" title={`Cancel ${visibleText(id)}?`} act={act}>
        <p>
          It belongs to <Text value={owner ?? 'another agent'} />, who gets E2A.CANCELLED as the last frame.
        </p>
      </Confirm>
    );
  }
  return (
    <>
      <button type="button" class="danger" disabled={isCancelling} onClick={() => void cancel()}>
        {isCancelling ? 'Cancelling…' : 'Cancel'}
      </button>
      <Problem error={trouble} />
    </>
  );
}

function curlOf(id: string): string {
  const url = `${location.origin}/e2a/requests/${encodeURIComponent(id)}/responses`;
  return `curl -N '${url}' -H "Authorization: Bearer $DRAGOMAN_KEY" -H 'Accept: text/event-stream'`;
}

const ENDED = new Set(['finished', 'success', 'partial_success', 'error', 'cancelled', 'timeout', 'failed']);
