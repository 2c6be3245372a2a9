import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { asAdmin } from '../session.ts';
import { Problem } from './problem.tsx';
import { Secret } from './secret.tsx';

/** Makes a caller with a key, or an agent that answers by HTTP or by a model. */
export function NewAgent({ made }: { readonly made: () => void }) {
  const [id, setId] = useState('');
  const [driver, setDriver] = useState<keyof typeof DRIVERS>('none');
  const [settings, setSettings] = useState<Readonly<Record<string, string>>>({});
  const [kinds, setKinds] = useState<readonly string[]>(['agents']);
  const [secret, setSecret] = useState<string>();
  const { act, trouble, isBusy } = useAction();
  const fields = DRIVERS[driver];
  const submit = (event: Event) => {
    event.preventDefault();
    void act(async () => {
      const permissions = Object.fromEntries(kinds.map((kind) => [kind, ['*']]));
      const answering = driver === 'none' ? {} : { driver, ...settings };
      const created = await asAdmin.value?.admin.agents.put({ agent_id: id, permissions, ...answering });
      setSecret(created?.api_key);
      setId('');
      made();
    });
  };
  return (
    <section class="panel">
      <h2>New agent</h2>
      <p class="dim">
        It gets a key and may use everything of the kinds you choose. With a driver it answers, too; agents that run a
        program of yours are described in dragoman.yaml.
      </p>
      <form class="form" onSubmit={submit}>
        <label>
          Agent id
          <input required value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <label>
          Answers
          <select value={driver} onChange={(event) => setDriver(event.currentTarget.value as keyof typeof DRIVERS)}>
            <option value="none">no, it only calls</option>
            <option value="http">by HTTP</option>
            <option value="openai">by a model (OpenAI-compatible)</option>
          </select>
        </label>
        {fields.map(({ name, label, placeholder }) => (
          <label key={name}>
            {label}
            <input
              required
              placeholder={placeholder}
              onInput={({ currentTarget: { value } }) => setSettings({ ...settings, [name]: value })}
            />
          </label>
        ))}
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
          <button type="submit" class="primary" disabled={isBusy}>
            Create
          </button>
        </div>
      </form>
      <Problem error={trouble} />
      {secret !== undefined && <Secret value={secret} />}
    </section>
  );
}

export const PERMISSIONS = ['agents', 'tools', 'workflows', 'operations', 'apis', 'credentials'] as const;

/** The connection settings of a new agent, by driver. */
const DRIVERS = {
  none: [],
  http: [{ name: 'url', label: 'URL', placeholder: 'https://agent.example.com/e2a' }],
  openai: [
    { name: 'base_url', label: 'Base URL', placeholder: 'http://127.0.0.1:11434/v1' },
    { name: 'model', label: 'Model', placeholder: 'llama3' },
  ],
} as const satisfies Record<string, readonly { name: string; label: string; placeholder: string }[]>;
