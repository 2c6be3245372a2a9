import type { Credential, Key } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Secret } from '../parts/secret.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { asAdmin, dropKey, keys, signIn } from '../session.ts';

/** Who may come in, and what the vault holds: names and hosts, never a value. */
export default function KeysPage() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(
    async () => {
      if (admin === undefined) return undefined;
      const [all, credentials, apis] = await Promise.all([
        admin.keys.list(),
        admin.credentials.list(),
        admin.apis.list(),
      ]);
      return { all, credentials, apis };
    },
    [admin],
    10_000,
  );
  return (
    <Page title="Keys">
      <SignedIn />
      {admin === undefined ? (
        <NeedsKey kind="admin" />
      ) : (
        <>
          <Problem error={error} retry={reload} />
          <NewKeyForm made={reload} />
          {data !== undefined && (
            <>
              <KeyTable list={data.all} changed={reload} />
              <CredentialTable list={data.credentials} changed={reload} />
              <section class="panel">
                <h2>APIs that workflows may call</h2>
                {data.apis.length === 0 ? (
                  <p class="dim">None. Add one under apis in dragoman.yaml, or with `npx dragoman apis put`.</p>
                ) : (
                  <ul>
                    {data.apis.map(({ id, base_url, description }) => (
                      <li key={id}>
                        <strong>
                          <Text value={id} />
                        </strong>{' '}
                        <code>
                          <Text value={base_url} />
                        </code>{' '}
                        <span class="dim">
                          <Text value={description ?? ''} />
                        </span>
                      </li>
                    ))}
                  </ul>
                )}
              </section>
            </>
          )}
        </>
      )}
    </Page>
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

function NewKeyForm({ made }: { readonly made: () => void }) {
  const [agent, setAgent] = useState('');
  const [description, setDescription] = useState('');
  const [trouble, setTrouble] = useState<unknown>();
  const [secret, setSecret] = useState<string>();
  const [isInUse, setInUse] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setTrouble(undefined);
    setInUse(false);
    try {
      const named = description === '' ? {} : { description };
      const created = await asAdmin.value?.admin.keys.create({ agent_id: agent, ...named });
      setSecret(created?.api_key);
      made();
    } catch (error) {
      setTrouble(error);
    }
  };
  const use = async () => {
    try {
      await signIn(secret ?? '', { remember: sessionStorage.length > 0 });
      setInUse(true);
    } catch (error) {
      setTrouble(error);
    }
  };
  return (
    <section class="panel">
      <h2>New key for an agent</h2>
      <form class="bar" onSubmit={submit}>
        <label>
          Agent id
          <input required value={agent} onInput={(event) => setAgent(event.currentTarget.value)} />
        </label>
        <label class="grow">
          What it is for
          <input value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          Create key
        </button>
      </form>
      <Problem error={trouble} />
      {secret !== undefined && (
        <>
          <Secret value={secret} />
          <button type="button" disabled={isInUse} onClick={() => void use()}>
            {isInUse ? 'In use here' : 'Use it here, to chat and to call tools'}
          </button>
        </>
      )}
    </section>
  );
}

function KeyTable({ list, changed }: { readonly list: readonly Key[]; readonly changed: () => void }) {
  return (
    <section class="panel">
      <h2>Keys</h2>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Key</th>
              <th>Agent</th>
              <th>Role</th>
              <th>For</th>
              <th>Created</th>
              <th>State</th>
              <th>Revoke</th>
            </tr>
          </thead>
          <tbody>
            {list.map(
              ({ key_id: id, agent_id: agent, role, description, created_at: created, revoked_at: revoked }) => (
                <tr key={id}>
                  <td class="mono">
                    <Text value={id} />
                  </td>
                  <td>
                    <Text value={agent} />
                  </td>
                  <td>{role}</td>
                  <td>
                    <Text value={description ?? ''} />
                  </td>
                  <td class="tight">
                    <When at={created} />
                  </td>
                  <td>
                    <State state={revoked === null ? 'active' : 'revoked'} />
                  </td>
                  <td>
                    {revoked === null && (
                      <Confirm
                        label="Revoke"
                        title={`Revoke ${id}?`}
                        act={async () => {
                          await asAdmin.value?.admin.keys.revoke(id);
                          changed();
                        }}
                      >
                        <p>
                          The key of <Text value={agent} /> stops working at once, including on open streams.
                        </p>
                      </Confirm>
                    )}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function CredentialTable({ list, changed }: { readonly list: readonly Credential[]; readonly changed: () => void }) {
  if (list.length === 0) {
    return (
      <Empty title="The vault is empty">
        <p>`npx dragoman vault put NAME` stores a credential that workflows use by name. Nobody can read it back.</p>
      </Empty>
    );
  }
  return (
    <section class="panel">
      <h2>Vault</h2>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Credential</th>
              <th>Type</th>
              <th>May be sent to</th>
              <th>In</th>
              <th>Changed</th>
              <th>Remove</th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ id, type, hosts, places, description, updated_at: updated, damaged }) => (
              <tr key={id}>
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
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
