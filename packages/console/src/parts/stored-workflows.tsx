import type { RunnableWorkflow } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { stateOfStream, useFrames } from '../frame-stream.ts';
import { useLive } from '../live.ts';
import { navigate, pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';
import { AnswerView, foldFrames } from './answer-view.tsx';
import { Confirm } from './confirm.tsx';
import { Diff } from './diff.tsx';
import { Code } from './json.tsx';
import { Problem } from './problem.tsx';
import { SchemaForm } from './schema-form.tsx';
import { State } from './state.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

export function StoredWorkflowList() {
  const client = asAgent.value;
  const { data, error } = useLive(async () => client?.workflows.stored(), [client]);
  return (
    <section class="panel">
      <h2>Stored workflows</h2>
      <Problem error={error} />
      {data?.length === 0 && (
        <p class="dim">
          None that you may run. <code>npx dragoman workflow store NAME file.jsonl</code> stores one under a name.
        </p>
      )}
      <ul class="list">
        {data?.map(({ name, description, version }) => (
          <li key={name}>
            <a href={pageUrl('workflows', 'stored', name)}>
              <Text value={name} /> <span class="dim">version {version}</span>
              <small>
                <Text value={description} />
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One stored workflow: a form to run it, and for administrators its versions. */
export function OneStoredWorkflow({ name }: { readonly name: string }) {
  const client = asAgent.value;
  const { data, error } = useLive(
    async () => (await client?.workflows.stored())?.find((one) => one.name === name),
    [client, name],
  );
  const [run, setRun] = useState<{ readonly id: string; readonly inputs: RunnableWorkflow['inputs'] }>();
  const stream = useFrames(
    run === undefined || client === undefined
      ? undefined
      : (onReconnect, signal) =>
          client.send(
            { method: name, params: run.inputs },
            { agent: 'workflows', requestId: run.id, onReconnect, signal },
          ),
    [run?.id],
  );
  return (
    <>
      <section class="panel">
        <h2>
          <Text value={name} />
        </h2>
        <Problem error={error} />
        {data !== undefined && (
          <>
            <p class="dim">
              <Text value={data.description} />
            </p>
            <SchemaForm
              schema={data.inputs}
              action="Run"
              submit={(inputs) => setRun({ id: crypto.randomUUID(), inputs })}
            />
          </>
        )}
        {run !== undefined && (
          <>
            <State state={stateOfStream(stream)} />
            <Problem error={stream.error} />
            <AnswerView answer={foldFrames(stream.frames)} />
          </>
        )}
      </section>
      {asAdmin.value !== undefined && <Versions name={name} />}
    </>
  );
}

/** The versions of a stored workflow, and the differences between each and the one that runs. */
function Versions({ name }: { readonly name: string }) {
  const admin = asAdmin.value?.admin.workflows;
  const [compared, setCompared] = useState<number>();
  const { data, error } = useLive(async () => admin?.get(name), [admin, name]);
  const earlier = useLive(
    async () => (compared === undefined ? undefined : admin?.get(name, { version: compared })),
    [admin, name, compared],
  );
  return (
    <section class="panel" aria-label="Versions">
      <div class="bar">
        <h2>Versions</h2>
        {data?.from === 'admin' && (
          <Confirm
            label="Remove"
            title={`Remove ${name}?`}
            act={async () => {
              await admin?.remove(name);
              navigate(pageUrl('workflows'));
            }}
          >
            <p>No one can run it after that. Running executions continue.</p>
          </Confirm>
        )}
      </div>
      <Problem error={error ?? earlier.error} />
      {data !== undefined && data.versions.length === 0 && (
        <p class="dim">It is written in the configuration file, which has its versions.</p>
      )}
      <ul>
        {data?.versions.map(({ version, plan_hash: hash, created_at: created, description }) => (
          <li key={version}>
            version {version}, <When at={created} />, plan <code>{hash.slice(0, 16)}</code> <Text value={description} />{' '}
            {version !== data.version && (
              <button
                type="button"
                class="small"
                aria-pressed={compared === version}
                onClick={() => setCompared(version)}
              >
                Compare with version {data.version}
              </button>
            )}
          </li>
        ))}
      </ul>
      {data !== undefined &&
        (earlier.data === undefined ? (
          <Code text={data.workflow} label={`Text of ${name}`} />
        ) : (
          <Diff
            before={earlier.data.workflow}
            now={data.workflow}
            label={`From version ${compared} to ${data.version}`}
          />
        ))}
    </section>
  );
}

/** Stores a checked workflow under a name, by which agents then run exactly this plan. */
export function StoreWorkflow({ text, planHash }: { readonly text: string; readonly planHash: string }) {
  const admin = asAdmin.value?.admin.workflows;
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { act, trouble, isBusy } = useAction();
  if (admin === undefined) return null;
  const store = (event: Event) => {
    event.preventDefault();
    void act(async () => {
      await admin.put(name, text, { description });
      navigate(pageUrl('workflows', 'stored', name));
    });
  };
  return (
    <details>
      <summary>Approve it, and store it under a name</summary>
      <p class="dim">
        Agents with the permission run it by its name, as it is now: plan <code>{planHash.slice(0, 16)}</code>. A
        changed text becomes the next version.
      </p>
      <form class="bar" onSubmit={store}>
        <label>
          Name
          <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="grow">
          Description
          <input required value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={isBusy}>
          Store
        </button>
      </form>
      <Problem error={trouble} />
    </details>
  );
}
