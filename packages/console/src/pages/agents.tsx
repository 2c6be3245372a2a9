import type { AgentDefinition, AgentFigures, AgentList } from '@dragoman/client';
import { askable } from '../askable.ts';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { ForeignAgent } from '../parts/foreign-agent.tsx';
import { HeldCards } from '../parts/held-cards.tsx';
import { Json as JsonView } from '../parts/json.tsx';
import { NewAgent, PERMISSIONS } from '../parts/new-agent.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { navigate, pageUrl, route } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** Agents that answer or call: all for an administrator, and for an agent those it may call. */
export default function AgentsPage() {
  const [id] = route.value.rest;
  if (asAdmin.value === undefined) return <Reachable />;
  return id === undefined ? <AllAgents /> : <OneAgent id={id} />;
}

function AllAgents() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async () => admin?.agents.list(), [admin], 10_000);
  const held = useLive(async () => admin?.agents.heldCards(), [admin], 10_000);
  const overview = useLive(async () => admin?.overview(), [admin], 5000);
  return (
    <Page title="Agents">
      <Problem error={error} retry={reload} />
      {data !== undefined && <AgentTables list={data} figures={overview.data?.by_agent ?? []} />}
      <HeldCards changes={held.data?.changes ?? []} changed={held.reload} />
      <div class="columns">
        <NewAgent made={reload} />
        <ForeignAgent made={reload} />
      </div>
    </Page>
  );
}

interface AgentTablesParts {
  readonly list: AgentList;
  readonly figures: readonly AgentFigures[];
}

function AgentTables({ list: { agents, targets, registered }, figures }: AgentTablesParts) {
  const ids = [...new Set([...targets, ...agents.map(({ agent_id }) => agent_id)])].sort();
  return (
    <>
      {ids.length === 0 ? (
        <Empty title="No agents yet">
          <p>
            Create one below, or name one under agents in dragoman.yaml. <code>npx dragoman dev</code> starts with some.
          </p>
        </Empty>
      ) : (
        <Table
          head={['Agent', 'Answers', 'Driver', 'Requests', 'Failed', 'Running', 'Waiting', ...PERMISSIONS]}
          numbers={['Requests', 'Failed', 'Running', 'Waiting']}
        >
          {ids.map((id) => (
            <AgentRow
              key={id}
              id={id}
              isTarget={targets.includes(id)}
              agent={agents.find((one) => one.agent_id === id)}
              figures={figures.find(({ agent }) => agent === id)}
            />
          ))}
        </Table>
      )}
      {registered.length > 0 && (
        <section class="panel">
          <h2>Registered by callers</h2>
          <p class="dim">Their descriptions are their own and not verified.</p>
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
  figures,
}: {
  readonly id: string;
  readonly isTarget: boolean;
  readonly agent: AgentDefinition | undefined;
  readonly figures: AgentFigures | undefined;
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
      <td class="number">{figures?.accepted.toLocaleString() ?? ''}</td>
      <td class={`number ${(figures?.failed ?? 0) > 0 ? 'bad' : ''}`}>{figures?.failed.toLocaleString() ?? ''}</td>
      <td class="number">{figures?.running ?? ''}</td>
      <td class="number">{figures?.waiting ?? ''}</td>
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
