import type { FailedLoginReport, OutboundEntry } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { State } from './state.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

/** Outbound requests, including those the gate refused. */
export function EgressTable({ list }: { readonly list: readonly OutboundEntry[] }) {
  const [isRefusedOnly, setRefusedOnly] = useState(false);
  const shown = list.filter(({ outcome }) => !isRefusedOnly || outcome === 'refused').slice(0, MOST_SHOWN);
  return (
    <section class="panel">
      <div class="bar">
        <h2>Outbound requests</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={isRefusedOnly}
            onChange={(event) => setRefusedOnly(event.currentTarget.checked)}
          />
          refused only
        </label>
      </div>
      {shown.length === 0 ? (
        <p class="dim">{isRefusedOnly ? 'No recent refusals.' : 'No outbound requests since the server started.'}</p>
      ) : (
        <Table head={['Outcome', 'When', 'For', 'Method', 'Host', 'Status', 'Took', 'Reason']} numbers={['Took']}>
          {shown.map(({ at, caller, method, host, outcome, status, reason, duration_ms: took }, row) => (
            <tr key={row}>
              <td>
                <State state={outcome} />
              </td>
              <td class="tight">
                <When at={at} />
              </td>
              <td>
                <Text value={caller} />
              </td>
              <td>{method}</td>
              <td class="mono">
                <Text value={host} />
              </td>
              <td>{status ?? ''}</td>
              <td class="number">{took} ms</td>
              <td>
                <Text value={reason ?? ''} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** The addresses that sent wrong keys. */
export function FailedLoginTable({ report }: { readonly report: FailedLoginReport }) {
  if (report.total === 0) return null;
  return (
    <section class="panel">
      <h2>Failed logins since the start: {report.total.toLocaleString()}</h2>
      <Table head={['Address', 'Wrong keys', 'First', 'Last']} numbers={['Wrong keys']}>
        {report.recent.map(({ address, count, first_at: first, last_at: last }) => (
          <tr key={address}>
            <td class="mono">
              <Text value={address} />
            </td>
            <td class="number">{count.toLocaleString()}</td>
            <td class="tight">
              <When at={first} />
            </td>
            <td class="tight">
              <When at={last} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const MOST_SHOWN = 100;
