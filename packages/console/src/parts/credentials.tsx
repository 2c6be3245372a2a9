import type { Credential } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useLive } from '../live.ts';
import { asAdmin } from '../session.ts';
import { Confirm } from './confirm.tsx';
import { Empty } from './page.tsx';
import { Problem } from './problem.tsx';
import { State } from './state.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

/** The credentials of the vault: names, hosts and uses, never a value. */
export function CredentialTable({
  list,
  changed,
}: {
  readonly list: readonly Credential[];
  readonly changed: () => void;
}) {
  if (list.length === 0) {
    return (
      <Empty title="The vault is empty">
        <p>
          <code>npx dragoman vault set NAME</code> stores a credential that workflows use by name. No one can read it
          back.
        </p>
      </Empty>
    );
  }
  return (
    <section class="panel">
      <h2>Vault</h2>
      <Table head={['Credential', 'Type', 'May be sent to', 'In', 'Changed', 'Last uses', 'Remove']}>
        {list.map((credential) => (
          <CredentialRow key={credential.id} credential={credential} changed={changed} />
        ))}
      </Table>
    </section>
  );
}

function CredentialRow({ credential, changed }: { readonly credential: Credential; readonly changed: () => void }) {
  const { id, type, hosts, places, description, updated_at: updated, damaged } = credential;
  const [isOpen, setOpen] = useState(false);
  return (
    <tr>
      <td>
        <Text value={id} /> {damaged === true && <State state="failed" />}
        <div class="dim">
          <Text value={description ?? ''} />
        </div>
      </td>
      <td>{type}</td>
      <td class="mono">
        <Text value={hosts.join(', ')} />
      </td>
      <td>{places.join(', ')}</td>
      <td class="tight">
        <When at={updated} />
      </td>
      <td>
        {isOpen ? (
          <Uses id={id} />
        ) : (
          <button type="button" class="small" onClick={() => setOpen(true)}>
            Show
          </button>
        )}
      </td>
      <td>
        <Confirm
          label="Remove"
          title={`Remove ${id}?`}
          act={async () => {
            await asAdmin.value?.admin.credentials.remove(id);
            changed();
          }}
        >
          <p>Workflows that use it fail from now on. Its value cannot be recovered.</p>
        </Confirm>
      </td>
    </tr>
  );
}

function Uses({ id }: { readonly id: string }) {
  const admin = asAdmin.value?.admin.credentials;
  const { data, error } = useLive(async () => admin?.get(id), [admin, id]);
  if (data === undefined) return <Problem error={error} />;
  if (data.uses.length === 0) return <span class="dim">never used</span>;
  return (
    <>
      {data.uses.slice(0, 5).map(({ at, caller, host, outcome }) => (
        <div key={`${at} ${caller}`}>
          <When at={at} /> <Text value={caller} /> to <Text value={host} />, {outcome}
        </div>
      ))}
    </>
  );
}
