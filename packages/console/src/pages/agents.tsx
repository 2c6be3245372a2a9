import type { AgentDefinition, AgentList } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { askable } from '../askable.ts';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Json as JsonView } from '../parts/json.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Secret } from '../parts/secret.tsx';
import { Text } from '../parts/text.tsx';
import { navigate, pageUrl, route } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** Who answers and who calls: everybody for an administrator, and for an agent those it may ask. */
export default function AgentsPage() {
  const [id] = route.value.rest;
  if (asAdmin.value === undefined) return <Reachable />;
  return id === undefined ? <AllAgents /> : <OneAgent id={id} />;
}

function AllAgents() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async () => admin?.agents.list(), [admin], 10_000);
  return (
    <Page title="Agents">
      <Problem error={error} retry={reload} />
      {data !== undefined && <AgentTables list={data} />}
      <NewAgent made={reload} />
    </Page>
  );
}

function AgentTables({ list: { agents, targets, registered } }: { readonly list: AgentList }) {
  const ids = [...new Set([...targets, ...agents.map(({ agent_id }) => agent_id)])].sort();
  return (
    <>
      {ids.length === 0 ? (
        <Empty title="No agents yet">
          <p>Create one below, or name one under agents in dragoman.yaml. `npx dragoman dev` starts with four.</p>
        </Empty>
      ) : (
        <div class="scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Agent</th>
                <th>Answers</th>
                <th>Driver</th>
                {PERMISSIONS.map((name) => (
                  <th key={name}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {ids.map((id) => (
                <AgentRow
                  key={id}
                  id={id}
                  isTarget={targets.includes(id)}
                  agent={agents.find((one) => one.agent_id === id)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {registered.length > 0 && (
        <section class="panel">
          <h2>Registered by callers</h2>
          <p class="dim">Nobody has checked what they say of themselves.</p>
          <ul>
            {registered.map(({ agent_id: id, name, registered_by: by }) => (
              <li key={id}>
                <code>
                  <Text value={id} />
                </code>{' '}
                <Text value={name} />, by <Text value={by} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function AgentRow({
  id,
  isTarget,
  agent,
}: {
  readonly id: string;
  readonly isTarget: boolean;
  readonly agent: AgentDefinition | undefined;
}) {
  const { permissions = {} } = agent ?? {};
  return (
    <tr>
      <td>
        {agent === undefined ? (
          <Text value={id} />
        ) : (
          <a href={pageUrl('agents', id)}>
            <Text value={id} />
          </a>
        )}
        {agent?.name !== undefined && (
          <div class="dim">
            <Text value={agent.name} />
          </div>
        )}
      </td>
      <td>{isTarget ? 'yes' : 'no, it only calls'}</td>
      <td>{agent === undefined ? 'configuration' : (agent.driver ?? '–')}</td>
      {PERMISSIONS.map((name) => (
        <td key={name}>
          <Allowed list={permissions[name]} />
        </td>
      ))}
    </tr>
  );
}

function Allowed({ list }: { readonly list: readonly string[] | undefined }) {
  if (list === undefined || list.length === 0) return <span class="dim">none</span>;
  if (list.includes('*')) return <>all</>;
  return (
    <span title={list.join(', ')}>
      <Text value={list.slice(0, 3).join(', ')} />
      {list.length > 3 && ` +${list.length - 3}`}
    </span>
  );
}

function OneAgent({ id }: { readonly id: string }) {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async () => admin?.agents.get(id), [admin, id]);
  return (
    <Page
      title={<Text value={id} />}
      actions={
        <>
          <a href={pageUrl('agents')}>All agents</a>
          <a href={`${pageUrl('requests')}?owner=${encodeURIComponent(id)}`}>Its requests</a>
          <Confirm
            label="Remove"
            title={`Remove ${id}?`}
            act={async () => {
              await admin?.agents.remove(id);
              navigate(pageUrl('agents'));
            }}
          >
            <p>Its keys stop working at once, including on open streams. What it has recorded stays.</p>
          </Confirm>
        </>
      }
    >
      <Problem error={error} retry={reload} />
      {data !== undefined && <JsonView value={data} label={`Definition of ${id}`} />}
    </Page>
  );
}

function NewAgent({ made }: { readonly made: () => void }) {
  const [id, setId] = useState('');
  const [kinds, setKinds] = useState<readonly string[]>(['agents']);
  const [trouble, setTrouble] = useState<unknown>();
  const [secret, setSecret] = useState<string>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setTrouble(undefined);
    try {
      const permissions = Object.fromEntries(kinds.map((kind) => [kind, ['*']]));
      const { api_key } = (await asAdmin.value?.admin.agents.put({ agent_id: id, permissions })) ?? {};
      setSecret(api_key);
      setId('');
      made();
    } catch (error) {
      setTrouble(error);
    }
  };
  return (
    <section class="panel">
      <h2>New caller</h2>
      <p class="dim">
        It gets a key and may use everything of the kinds you choose. Agents that answer are best described in
        dragoman.yaml.
      </p>
      <form class="form" onSubmit={submit}>
        <label>
          Agent id
          <input required value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <fieldset>
          <legend>May use all</legend>
          <div class="bar">
            {PERMISSIONS.map((name) => (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={kinds.includes(name)}
                  onChange={({ currentTarget: { checked } }) =>
                    setKinds(checked ? [...kinds, name] : kinds.filter((one) => one !== name))
                  }
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
        <div>
          <button type="submit" class="primary">
            Create
          </button>
        </div>
      </form>
      <Problem error={trouble} />
      {secret !== undefined && <Secret value={secret} />}
    </section>
  );
}

function Reachable() {
  const client = asAgent.value;
  const { data, error, reload } = useLive(
    async (signal) => client && askable(await client.agents({ signal })),
    [client],
  );
  return (
    <Page title="Agents">
      <Problem error={error} retry={reload} />
      {data?.length === 0 && (
        <Empty title="You may ask no agent">
          <p>An operator grants that with permissions.agents.</p>
        </Empty>
      )}
      <ul class="list">
        {data?.map(({ id, name, description }) => (
          <li key={id}>
            <a href={`${pageUrl('chat')}?agent=${encodeURIComponent(id)}`}>
              <Text value={name} />
              <small>
                <Text value={description} />
              </small>
            </a>
          </li>
        ))}
      </ul>
    </Page>
  );
}

const PERMISSIONS = ['agents', 'tools', 'workflows', 'operations', 'apis', 'credentials'] as const;
