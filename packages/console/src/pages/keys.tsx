import { useLive } from '../live.ts';
import { CredentialTable } from '../parts/credentials.tsx';
import { EgressTable, FailedLoginTable } from '../parts/egress.tsx';
import { Keys } from '../parts/keys.tsx';
import { Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { Text } from '../parts/text.tsx';
import { navigate, pageUrl } from '../router.ts';
import { asAdmin, dropKey, keys } from '../session.ts';

/** Keys, the credentials of the vault (names and hosts, never a value), and outbound requests. */
export default function KeysPage() {
  return (
    <Page title="Keys">
      <SignedIn />
      {asAdmin.value === undefined ? <NeedsKey kind="admin" /> : <Everything />}
    </Page>
  );
}

function Everything() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(
    async () => {
      if (admin === undefined) return undefined;
      const [credentials, apis, logins, egress] = await Promise.all([
        admin.credentials.list(),
        admin.apis.list(),
        admin.failedLogins(),
        admin.egress(),
      ]);
      return { credentials, apis, logins, egress };
    },
    [admin],
    10_000,
  );
  return (
    <>
      <Problem error={error} retry={reload} />
      <Keys />
      {data !== undefined && (
        <>
          <CredentialTable list={data.credentials} changed={reload} />
          <ApiList list={data.apis} />
          <Limits />
          <EgressTable list={data.egress} />
          <FailedLoginTable report={data.logins} />
        </>
      )}
    </>
  );
}

/** Opens the page of an agent, which shows the agent's limits. */
function Limits() {
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    navigate(pageUrl('agents', String(new FormData(event.currentTarget).get('agent') ?? '')));
  };
  return (
    <section class="panel" aria-label="Limits">
      <h2>Limits</h2>
      <p class="dim">
        Each agent has limits per minute, hour and day. Its page shows what is used and left, and changes them.
      </p>
      <form class="bar" onSubmit={open}>
        <input name="agent" required aria-label="Whose limits" placeholder="Agent id" />
        <button type="submit">Show its limits</button>
        <a href={pageUrl('agents')}>All agents</a>
      </form>
    </section>
  );
}

interface ListedApi {
  readonly id: string;
  readonly base_url: string;
  readonly description?: string | null;
}

function ApiList({ list }: { readonly list: readonly ListedApi[] }) {
  return (
    <section class="panel">
      <h2>APIs that workflows may call</h2>
      {list.length === 0 && (
        <p class="dim">
          None. Add one under <code>apis</code> in <code>dragoman.yaml</code>, or with{' '}
          <code>npx dragoman apis add</code>.
        </p>
      )}
      <ul>
        {list.map(({ id, base_url: url, description }) => (
          <li key={id}>
            <strong>
              <Text value={id} />
            </strong>{' '}
            <code>
              <Text value={url} />
            </code>{' '}
            <span class="dim">
              <Text value={description ?? ''} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SignedIn() {
  const { agent, admin } = keys.value;
  return (
    <p class="bar">
      Signed in here with:
      {admin !== undefined && (
        <span class="bar">
          an admin key{' '}
          <button type="button" class="small" onClick={() => dropKey('admin')}>
            Forget it
          </button>
        </span>
      )}
      {agent !== undefined && (
        <span class="bar">
          an agent’s key{' '}
          <button type="button" class="small" onClick={() => dropKey('agent')}>
            Forget it
          </button>
        </span>
      )}
    </p>
  );
}
