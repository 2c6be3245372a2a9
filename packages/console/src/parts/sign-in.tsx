import { useState } from 'preact/hooks';
import { keys, linkTrouble, signIn } from '../session.ts';
import { Problem } from './problem.tsx';

/** The page for a user who is not signed in. */
export function SignIn() {
  return (
    <main class="sign-in" id="main">
      <h1>Dragoman</h1>
      <p>Sign in with an API key: an agent’s key shows what that agent may see and do, an admin key everything else.</p>
      {linkTrouble.value !== undefined && <Problem error={linkTrouble.value} />}
      <KeyForm label="API key" />
      <p class="dim">
        <code>npx dragoman dev</code> prints a link that signs you in. <code>npx dragoman keys</code> makes a key on a
        server that runs.
      </p>
    </main>
  );
}

/** Shown when a page needs the other kind of key. */
export function NeedsKey({ kind }: { readonly kind: 'agent' | 'admin' }) {
  const isAgent = kind === 'agent';
  return (
    <div class="empty">
      <h2>{isAgent ? 'This needs an agent’s key' : 'This needs an admin key'}</h2>
      <p>
        {isAgent
          ? 'Requests are sent in the name of an agent; an admin key is not an agent. Create one on the Keys page, or paste one here.'
          : 'Only administrators see this page. Paste an admin key to see it.'}
      </p>
      <KeyForm label={isAgent ? 'Agent’s key' : 'Admin key'} />
    </div>
  );
}

function KeyForm({ label }: { readonly label: string }) {
  const [key, setKey] = useState('');
  const [remember, setRemember] = useState(sessionStorage.length > 0);
  const [trouble, setTrouble] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setTrouble(undefined);
    try {
      await signIn(key.trim(), { remember });
      linkTrouble.value = undefined;
    } catch (error) {
      setTrouble(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="key-form" onSubmit={submit}>
      <label>
        {label}
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.currentTarget.checked)} />
        Keep me signed in until this tab is closed
      </label>
      <button type="submit" class="primary" disabled={isBusy || key.trim() === ''}>
        {keys.value.admin === undefined && keys.value.agent === undefined ? 'Sign in' : 'Add this key'}
      </button>
      <Problem error={trouble} />
    </form>
  );
}
