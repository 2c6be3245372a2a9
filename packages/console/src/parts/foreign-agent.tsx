import type { AgentDefinition, CardPreview } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { asAdmin } from '../session.ts';
import { Problem } from './problem.tsx';
import { Text } from './text.tsx';

/** Adds a foreign agent by the URL of its A2A card, after a preview of the card. */
export function ForeignAgent({ made }: { readonly made: () => void }) {
  const [id, setId] = useState('');
  const [card, setCard] = useState('');
  const [seen, setSeen] = useState<{ readonly definition: AgentDefinition; readonly preview: CardPreview }>();
  const [trouble, setTrouble] = useState<unknown>();
  const look = async (event: Event) => {
    event.preventDefault();
    setTrouble(undefined);
    setSeen(undefined);
    const definition: AgentDefinition = { agent_id: id, driver: 'a2a', card, permissions: {} };
    try {
      const preview = await asAdmin.value?.admin.agents.preview(definition);
      if (preview !== undefined) setSeen({ definition, preview });
    } catch (error) {
      setTrouble(error);
    }
  };
  const add = async (definition: AgentDefinition) => {
    try {
      await asAdmin.value?.admin.agents.put(definition);
      setSeen(undefined);
      setId('');
      setCard('');
      made();
    } catch (error) {
      setTrouble(error);
    }
  };
  return (
    <section class="panel">
      <h2>Add an A2A agent by its card</h2>
      <p class="dim">The server reads the card through its gate. Its host must be allowed there.</p>
      <form class="form" onSubmit={look}>
        <label>
          Id here
          <input required value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <label>
          URL of the card
          <input
            type="url"
            required
            value={card}
            placeholder="https://agent.example.com/.well-known/agent-card.json"
            onInput={(event) => setCard(event.currentTarget.value)}
          />
        </label>
        <div>
          <button type="submit">Look at it</button>
        </div>
      </form>
      <Problem error={trouble} />
      {seen !== undefined && (
        <div class="notice">
          <strong>
            <Text value={seen.preview.name} />
          </strong>{' '}
          version <Text value={seen.preview.version} />
          <p>
            <Text value={seen.preview.description} />
          </p>
          <dl class="facts">
            <dt>Endpoint</dt>
            <dd>
              <Text value={seen.preview.interfaces.map(({ url, binding }) => `${url} (${binding})`).join(', ')} />
            </dd>
            <dt>Skills</dt>
            <dd>
              <Text value={seen.preview.skills.map(({ name }) => name).join(', ')} />
            </dd>
            <dt>Wants</dt>
            <dd>
              <Text value={seen.preview.auth.map(({ name, kind }) => `${name} (${kind})`).join(', ') || 'no proof'} />
            </dd>
          </dl>
          <button type="button" class="primary" onClick={() => void add(seen.definition)}>
            Add it
          </button>
        </div>
      )}
    </section>
  );
}
