import type { AgentDefinition, AgentFigures, AgentList } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { askable } from '../askable.ts';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { ForeignAgent } from '../parts/foreign-agent.tsx';
import { HeldCards } from '../parts/held-cards.tsx';
import { LimitList } from '../parts/limits.tsx';
import { NewAgent, PERMISSIONS } from '../parts/new-agent.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { State } from '../parts/state.tsx';
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
  const { query } = route.value;
  const cursor = query.get('cursor') ?? undefined;
  const text = query.get('text') ?? undefined;
  const { data, error, reload } = useLive(
    async (signal) => admin?.agents.page({ limit: PER_PAGE, cursor, text, signal }),
    [admin, cursor, text],
    5000,
  );
  const held = useLive(async () => admin?.agents.heldCards(), [admin], 10_000);
  return (
    <Page title="Agents" actions={<SearchField label="Id or name" value={text} />}>
      <Problem error={error} retry={reload} />
      <HeldCards changes={held.data?.changes ?? []} changed={held.reload} />
      {data !== undefined && <AgentTable list={data} isSearch={text !== undefined} />}
      <Paging cursor={cursor} next={data?.next_cursor} firstLabel="First" nextLabel="Next" />
      <div class="columns">
        <NewAgent made={reload} />
        <ForeignAgent made={reload} />
      </div>
    </Page>
  );
}

function AgentTable({ list, isSearch }: { readonly list: AgentList; readonly isSearch: boolean }) {
  if (list.figures.length === 0) {
    return isSearch ? (
      <Empty title="No agent matches">
        <p>
          <a href={pageUrl('agents')}>Show all of them</a>
        </p>
      </Empty>
    ) : (
      <Empty title="No agents yet">
        <p>
          Create one below, or name one under agents in dragoman.yaml. <code>npx dragoman dev</code> starts with some.
        </p>
      </Empty>
    );
  }
  return (
    <Table
      head={['Agent', 'Health', 'Driver', 'Requests', 'Failed', 'Running', 'Waiting', ...PERMISSIONS.map(mayUse)]}
      numbers={['Requests', 'Failed', 'Running', 'Waiting']}
    >
      {list.figures.map((figures) => (
        <AgentRow
          key={figures.agent}
          figures={figures}
          agent={list.agents.find(({ agent_id: id }) => id === figures.agent)}
          registered={list.registered.find(({ agent_id: id }) => id === figures.agent)}
        />
      ))}
    </Table>
  );
}

interface AgentRowParts {
  readonly figures: AgentFigures;
  readonly agent: AgentDefinition | undefined;
  readonly registered: AgentList['registered'][number] | undefined;
}

function AgentRow({ figures, agent, registered }: AgentRowParts) {
  const { agent: id, health, accepted, failed, running, waiting } = figures;
  const { permissions = {} } = agent ?? {};
  const name = agent?.name ?? registered?.name;
  const isTarget = health !== 'none';
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
        {name !== undefined && (
          <div class="dim">
            <Text value={name} />
          </div>
        )}
      </td>
      <td title={HEALTH[health]}>{isTarget ? <State state={health} /> : <span class="dim">only calls</span>}</td>
      <td>
        {agent?.driver ??
          (registered !== undefined ? (
            <span title="Its description is its own and not verified.">
              registered by <Text value={registered.registered_by} />
            </span>
          ) : isTarget ? (
            'configuration'
          ) : (
            ''
          ))}
      </td>
      <td class="number">
        {isTarget && <a href={`${pageUrl('requests')}?agent=${encodeURIComponent(id)}`}>{accepted.toLocaleString()}</a>}
      </td>
      <td class={`number ${failed > 0 ? 'bad' : ''}`}>{isTarget && failed.toLocaleString()}</td>
      <td class="number">{isTarget && running}</td>
      <td class="number">{isTarget && waiting}</td>
      {PERMISSIONS.map((kind) => (
        <td key={kind}>{agent === undefined ? '' : <Allowed list={permissions[kind]} />}</td>
      ))}
    </tr>
  );
}

function mayUse(permission: string): string {
  return `May use ${permission}`;
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
          <a href={`${pageUrl('keys')}?text=${encodeURIComponent(id)}`}>Its keys</a>
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
      {data !== undefined && (
        <>
          <div class="columns">
            <Permissions agent={data} />
            <AgentLimits id={id} />
          </div>
          <Definition key={JSON.stringify(data)} agent={data} changed={reload} />
        </>
      )}
    </Page>
  );
}

function Permissions({ agent }: { readonly agent: AgentDefinition }) {
  return (
    <section class="panel" aria-label="Permissions">
      <h2>May use</h2>
      <dl class="facts">
        {PERMISSIONS.map((name) => {
          const list = agent.permissions[name] ?? [];
          return (
            <>
              <dt>{name}</dt>
              <dd>
                {list.includes('*') ? (
                  'all'
                ) : list.length === 0 ? (
                  <span class="dim">none</span>
                ) : (
                  <Text value={list.join(', ')} />
                )}
              </dd>
            </>
          );
        })}
      </dl>
    </section>
  );
}

function AgentLimits({ id }: { readonly id: string }) {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async (signal) => admin?.agents.limits(id, { signal }), [admin, id], 5000);
  return (
    <section class="panel" aria-label="Limits">
      <h2>Limits</h2>
      <Problem error={error} retry={reload} />
      {data !== undefined && <LimitList status={data} />}
    </section>
  );
}

/** The definition as JSON in an editor: permissions, limits and the settings of the driver. */
function Definition({ agent, changed }: { readonly agent: AgentDefinition; readonly changed: () => void }) {
  const admin = asAdmin.value?.admin;
  const before = JSON.stringify(agent, null, 2);
  const [text, setText] = useState(before);
  const { act, trouble, isBusy } = useAction();
  const save = (event: Event) => {
    event.preventDefault();
    void act(async () => {
      await admin?.agents.put({ ...JSON.parse(text), agent_id: agent.agent_id });
      changed();
    });
  };
  return (
    <section class="panel" aria-label="Definition">
      <h2>Definition</h2>
      <p class="dim">Permissions and limits change at once, including for requests that are running.</p>
      <form class="key-form" onSubmit={save}>
        <textarea
          class="mono"
          aria-label={`Definition of ${agent.agent_id}, as JSON`}
          rows={Math.min(24, before.split('\n').length + 1)}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy || text === before}>
          Save
        </button>
      </form>
      <Problem error={trouble} />
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

const HEALTH: Readonly<Record<AgentFigures['health'], string>> = {
  ok: 'It answers.',
  away: 'It connects to the server by itself, and has not.',
  failing: 'Its last three requests, or more, got no answer.',
  none: 'It sends requests, and answers none.',
};
const PER_PAGE = 50;
