import type { NodeReport } from '@dragoman/client';
import { useLive } from '../live.ts';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { asAdmin } from '../session.ts';

/** The servers that share one database. */
export default function NodesPage() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async () => admin?.nodes.list(), [admin], 5000);
  return (
    <Page title="Nodes">
      {admin === undefined && <NeedsKey kind="admin" />}
      <Problem error={error} retry={reload} />
      {data?.database === null && (
        <Empty title="One server">
          <p>This server owns its store. Several nodes share a store in PostgreSQL.</p>
        </Empty>
      )}
      {data !== undefined && data.database !== null && <Report report={data} />}
    </Page>
  );
}

function Report({ report: { nodes, database, warnings } }: { readonly report: NodeReport }) {
  return (
    <>
      {warnings.map(({ code, message, suggestion }) => (
        <p key={message} class="problem" data-code={code}>
          <Text value={message} /> <Text value={suggestion} />
        </p>
      ))}
      <Table head={HEAD} numbers={NUMBERS}>
        {nodes.map((node) => (
          <tr key={node.node}>
            <td class="number">{node.node}</td>
            <td>
              <Text value={node.name} />
              {node.is_self && ' (this one)'}
            </td>
            <td>
              <State state={node.state} />
            </td>
            <td>{node.version}</td>
            <td class="tight">
              <When at={node.started_at} />
            </td>
            <td class="tight">
              <When at={node.beat_at} />
            </td>
            <td class="number">{node.clock_skew_ms === null ? '' : `${node.clock_skew_ms} ms`}</td>
            <td class="mono">{node.config_digest ?? ''}</td>
            <td class="number">{node.holds.requests.toLocaleString()}</td>
            <td class="number">{node.holds.executions.toLocaleString()}</td>
            <td class="number">{(node.holds.letters + node.holds.deliveries).toLocaleString()}</td>
          </tr>
        ))}
      </Table>
      <p class="dim">
        PostgreSQL {database?.version}, synchronous_commit {database?.synchronous_commit}, synchronous standbys:{' '}
        {database?.synchronous_standby_names || 'none'}
      </p>
    </>
  );
}

const HEAD = [
  'Node',
  'Name',
  'State',
  'Version',
  'Started',
  'Last beat',
  'Clock',
  'Configuration',
  'Requests',
  'Executions',
  'Callbacks',
];
const NUMBERS = ['Node', 'Clock', 'Requests', 'Executions', 'Callbacks'];
