import type { ListedState } from '@dragoman/client';
import { SOURCE_PROTOCOLS } from '@dragoman/protocols';
import { useLive } from '../live.ts';
import { Empty, Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { Problem } from '../parts/problem.tsx';
import { RequestDetail } from '../parts/request-detail.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { navigate, pageUrl, route, withQuery } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** Requests of every protocol, live; one of them, frame by frame. */
export default function RequestsPage() {
  const [id] = route.value.rest;
  return id === undefined ? <RequestList /> : <RequestDetail key={id} id={id} />;
}

function RequestList() {
  const { query } = route.value;
  const admin = asAdmin.value?.admin;
  const client = asAgent.value;
  const given = (name: string) => query.get(name) ?? undefined;
  const state = STATES.find((one) => one === given('state'));
  const [owner, agent, session, protocol, text, within, cursor] = FILTERS.map(given);
  const span = SPANS.find(({ name }) => name === within);
  const { data, error, isLoading, reload } = useLive(
    async (signal) => {
      const since = span && new Date(Date.now() - span.ms).toISOString();
      const wanted = { agent, session, state, protocol, text, since, cursor, signal };
      return admin === undefined ? client?.requests(wanted) : admin.requests.list({ ...wanted, owner });
    },
    [admin, client, owner, agent, session, state, protocol, text, within, cursor],
    // Only the first page changes by itself.
    cursor === undefined ? 2500 : undefined,
  );
  const hasFilter = [owner, agent, session, state, protocol, text, within].some((one) => one !== undefined);
  const isSearch = protocol !== undefined || text !== undefined;
  return (
    <Page
      title="Requests"
      actions={data?.total != null && <span class="dim">{data.total.toLocaleString()} in all</span>}
    >
      <form class="bar" onSubmit={filter}>
        {admin !== undefined && <Filter name="owner" label="Sent by" value={owner} />}
        <Filter name="agent" label="Answered by" value={agent} />
        <Filter name="session" label="Session" value={session} />
        <Choice name="state" label="State" value={state} choices={STATES} />
        <Choice name="protocol" label="Protocol" value={protocol} choices={SOURCE_PROTOCOLS} />
        <Choice name="within" label="Changed within" value={within} choices={SPANS.map(({ name }) => name)} />
        <Filter name="text" label="Text in the message" value={text} />
        <button type="submit">Filter</button>
        {hasFilter && <a href={pageUrl('requests')}>Clear</a>}
      </form>
      <Problem error={error} retry={reload} />
      {isLoading && data === undefined && <p class="dim">Loading…</p>}
      {data?.requests.length === 0 && data.next_cursor !== null ? (
        <p class="dim">Nothing found so far. Older requests have not been looked at yet.</p>
      ) : data?.requests.length === 0 ? (
        <Empty title={hasFilter ? 'No request matches' : 'No requests yet'}>
          <p>
            {hasFilter ? (
              <a href={pageUrl('requests')}>Show all of them</a>
            ) : (
              <>
                Answers are kept for a day. <a href={pageUrl('chat')}>Talk to an agent</a> to make one, or{' '}
                <a href={pageUrl('connect')}>connect a client</a>.
              </>
            )}
          </p>
        </Empty>
      ) : (
        data !== undefined && (
          <div class="scroll" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th>State</th>
                  <th>Request</th>
                  <th>Sent by</th>
                  <th>Answered by</th>
                  <th>Protocol</th>
                  <th>Session</th>
                  <th>Accepted</th>
                  <th class="number">Took</th>
                </tr>
              </thead>
              <tbody>
                {data.requests.map((one) => (
                  <tr key={`${one.owner} ${one.request_id}`}>
                    <td>
                      <State state={one.state} />
                    </td>
                    <td class="mono cut">
                      <a href={`${pageUrl('requests', one.request_id)}?owner=${encodeURIComponent(one.owner)}`}>
                        <Text value={one.request_id} />
                      </a>
                    </td>
                    <td>
                      <Text value={one.owner} />
                    </td>
                    <td>
                      <Text value={one.agent} />
                    </td>
                    <td>
                      <Text value={one.protocol} />
                    </td>
                    <td class="cut">
                      <Text value={one.session_id ?? ''} />
                    </td>
                    <td class="tight">
                      <When at={one.accepted_at} />
                    </td>
                    <td class="number">{took(one.accepted_at, one.changed_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      )}
      <Paging cursor={cursor} next={data?.next_cursor} nextLabel={isSearch ? 'Look further' : 'Older'} />
    </Page>
  );
}

function Filter({
  name,
  label,
  value,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}) {
  return (
    <label>
      {label}
      <input name={name} size={14} defaultValue={value ?? ''} key={value} />
    </label>
  );
}

interface ChoiceParts {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly string[];
}

function Choice({ name, label, value, choices }: ChoiceParts) {
  return (
    <label>
      {label}
      <select
        name={name}
        value={value ?? ''}
        onChange={(event) => navigate(withQuery({ [name]: event.currentTarget.value, cursor: undefined }))}
      >
        <option value="">any</option>
        {choices.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function filter(event: SubmitEvent): void {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const fields = new FormData(event.currentTarget);
  const values = Object.fromEntries([...fields].map(([name, value]) => [name, String(value)]));
  navigate(withQuery({ ...values, cursor: undefined }));
}

function took(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const FILTERS = ['owner', 'agent', 'session', 'protocol', 'text', 'within', 'cursor'] as const;
const SPANS = [
  { name: '5 minutes', ms: 300_000 },
  { name: '1 hour', ms: 3_600_000 },
  { name: '6 hours', ms: 21_600_000 },
  { name: '24 hours', ms: 86_400_000 },
] as const;
const STATES: readonly ListedState[] = ['waiting', 'running', 'completed', 'failed', 'cancelled', 'refused'];
