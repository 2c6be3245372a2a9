import type { Key } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { useLive } from '../live.ts';
import { route } from '../router.ts';
import { asAdmin, signIn } from '../session.ts';
import { Confirm } from './confirm.tsx';
import { Paging } from './paging.tsx';
import { Problem } from './problem.tsx';
import { SearchField } from './search-field.tsx';
import { Secret } from './secret.tsx';
import { State } from './state.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

/** The API keys, the newest first, and a form that creates one. */
export function Keys() {
  const admin = asAdmin.value?.admin;
  const { query } = route.value;
  const cursor = query.get('cursor') ?? undefined;
  const text = query.get('text') ?? undefined;
  const { data, error, reload } = useLive(
    async (signal) => admin?.keys.page({ limit: PER_PAGE, cursor, text, signal }),
    [admin, cursor, text],
    10_000,
  );
  return (
    <>
      <NewKeyForm made={reload} />
      <section class="panel" aria-label="Keys">
        <div class="bar spread">
          <h2>Keys</h2>
          <SearchField label="Key, agent or purpose" value={text} />
        </div>
        <Problem error={error} retry={reload} />
        {data?.keys.length === 0 ? (
          <p class="dim">No key matches.</p>
        ) : (
          data !== undefined && <KeyTable list={data.keys} changed={reload} />
        )}
      </section>
      <Paging cursor={cursor} next={data?.next_cursor} />
    </>
  );
}

/** Makes a key for an agent, and shows it once. */
function NewKeyForm({ made }: { readonly made: () => void }) {
  const [agent, setAgent] = useState('');
  const [description, setDescription] = useState('');
  const [days, setDays] = useState('');
  const { act, trouble, isBusy } = useAction();
  const [secret, setSecret] = useState<string>();
  const [isInUse, setInUse] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    setInUse(false);
    void act(async () => {
      const created = await asAdmin.value?.admin.keys.create({
        agent_id: agent,
        ...(description !== '' && { description }),
        ...(days !== '' && { expires_in_seconds: Number(days) * SECONDS_A_DAY }),
      });
      setSecret(created?.api_key);
      made();
    });
  };
  const use = () =>
    act(async () => {
      await signIn(secret ?? '', { remember: sessionStorage.length > 0 });
      setInUse(true);
    });
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
        <label>
          Expires after
          <select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
            <option value="">never</option>
            <option value="1">1 day</option>
            <option value="30">30 days</option>
            <option value="90">90 days</option>
            <option value="365">1 year</option>
          </select>
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
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
    <Table head={['Key', 'Agent', 'Role', 'For', 'Created', 'Expires', 'State', 'Revoke']}>
      {list.map((key) => (
        <KeyRow key={key.key_id} listed={key} changed={changed} />
      ))}
    </Table>
  );
}

function KeyRow({ listed, changed }: { readonly listed: Key; readonly changed: () => void }) {
  const { key_id: id, agent_id: agent, role, description, created_at: created, expires_at: expires } = listed;
  const state = stateOf(listed);
  return (
    <tr>
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
      <td class="tight">
        <When at={expires} />
      </td>
      <td>
        <State state={state} />
      </td>
      <td>
        {state === 'active' && (
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
  );
}

function stateOf({ revoked_at: revoked, expires_at: expires }: Key): 'active' | 'revoked' | 'expired' {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= Date.now() ? 'expired' : 'active';
}

const SECONDS_A_DAY = 86_400;
const PER_PAGE = 50;
