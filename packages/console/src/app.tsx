import { Component, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { askNow, isLost, watchConnection } from './connection.ts';
import { Mark } from './parts/mark.tsx';
import { Problem } from './parts/problem.tsx';
import { SignIn } from './parts/sign-in.tsx';
import { followLinks, pageUrl, route } from './router.ts';
import { isSignedIn, keys, signOut } from './session.ts';
import { nextTheme, theme } from './theme.ts';

/** The frame around every page: navigation, the signed-in user, and the connection to the server. */
export function App() {
  useEffect(followLinks, []);
  useEffect(watchConnection, []);
  const { page } = route.value;
  const known = PAGES.find(({ name }) => name === page);
  useEffect(() => {
    document.title = known === undefined || !isSignedIn.value ? 'Dragoman' : `${known.label} · Dragoman`;
  }, [known, isSignedIn.value]);
  // In a single-line menu, the current page may be scrolled out of view.
  useEffect(() => {
    const link = document.querySelector<HTMLElement>('nav [aria-current]');
    const list = link?.closest('nav');
    // Not with `scrollIntoView`, which would also move the start of the Tab order.
    if (link && list) list.scrollLeft = link.offsetLeft - list.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
  }, [page, isSignedIn.value]);
  if (!isSignedIn.value) {
    return (
      <>
        <LostBanner />
        <SignIn />
      </>
    );
  }
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="side">
        <a class="brand" href="/">
          <Mark />
          Dragoman
        </a>
        <nav aria-label="Pages">
          {GROUPS.map((group) => (
            <div class="group" key={group}>
              <span class="caption">{group}</span>
              {PAGES.filter((one) => one.group === group).map(({ name, label }) => (
                <a key={name} href={pageUrl(name)} aria-current={name === page ? 'page' : undefined}>
                  {label}
                </a>
              ))}
            </div>
          ))}
        </nav>
        <div class="who">
          <span class="roles">
            {[keys.value.admin && 'admin', keys.value.agent && 'agent'].filter(Boolean).join(' + ')}
          </span>
          <button
            type="button"
            class="quiet small"
            onClick={nextTheme}
            aria-label={`Theme: ${theme.value}. Change it.`}
          >
            {theme.value === 'auto' ? '◐' : theme.value === 'light' ? '☀' : '☾'} {theme.value}
          </button>
          <button type="button" class="quiet small" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <div class="content">
        <LostBanner />
        <main id="main" tabIndex={-1}>
          <PageOrTrouble key={page} load={known?.load} />
        </main>
      </div>
    </div>
  );
}

function LostBanner() {
  if (!isLost.value) return null;
  return (
    <div class="lost" role="status">
      The connection to the server is lost. Trying again; nothing on this page is lost.{' '}
      <button type="button" onClick={() => void askNow()}>
        Try now
      </button>
    </div>
  );
}

interface PageProps {
  readonly load: (() => Promise<{ readonly default: ComponentType }>) | undefined;
}

/** Loads a page when it is opened, and shows its errors without losing the rest. */
class PageOrTrouble extends Component<PageProps, { trouble?: unknown }> {
  override state: { trouble?: unknown } = {};

  override componentDidCatch(trouble: unknown): void {
    this.setState({ trouble });
  }

  override render() {
    const { trouble } = this.state;
    if (trouble !== undefined)
      return (
        <div class="page">
          <Problem error={trouble} />
        </div>
      );
    return <LatePage {...this.props} />;
  }
}

function LatePage({ load }: PageProps) {
  const [loaded, setLoaded] = useState<{ Page?: ComponentType; error?: unknown }>({});
  useEffect(() => {
    load?.().then(
      ({ default: Page }) => setLoaded({ Page }),
      (error) => setLoaded({ error }),
    );
  }, [load]);
  if (load === undefined) {
    return (
      <div class="page">
        <h1>Not found</h1>
        <p>
          Page not found. <a href="/">Go to the overview.</a>
        </p>
      </div>
    );
  }
  if (loaded.error !== undefined) return <Problem error={loaded.error} />;
  return loaded.Page === undefined ? <p class="loading">Loading…</p> : <loaded.Page />;
}

const GROUPS = ['Observe', 'Use', 'Exchange', 'Administer'] as const;

interface PageEntry {
  readonly group: (typeof GROUPS)[number];
  readonly name: string;
  readonly label: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** The pages of the navigation. A new one is a line here. */
const PAGES: readonly PageEntry[] = [
  { group: 'Observe', name: '', label: 'Overview', load: () => import('./pages/overview.tsx') },
  { group: 'Observe', name: 'requests', label: 'Requests', load: () => import('./pages/requests.tsx') },
  { group: 'Observe', name: 'questions', label: 'Questions', load: () => import('./pages/questions.tsx') },
  { group: 'Use', name: 'chat', label: 'Chat', load: () => import('./pages/chat.tsx') },
  { group: 'Use', name: 'workflows', label: 'Workflows', load: () => import('./pages/workflows.tsx') },
  { group: 'Use', name: 'tools', label: 'Tools', load: () => import('./pages/tools.tsx') },
  { group: 'Exchange', name: 'mailbox', label: 'Mailbox', load: () => import('./pages/mailbox.tsx') },
  { group: 'Exchange', name: 'outbox', label: 'Outbox', load: () => import('./pages/outbox.tsx') },
  { group: 'Administer', name: 'agents', label: 'Agents', load: () => import('./pages/agents.tsx') },
  { group: 'Administer', name: 'nodes', label: 'Nodes', load: () => import('./pages/nodes.tsx') },
  { group: 'Administer', name: 'keys', label: 'Keys', load: () => import('./pages/keys.tsx') },
  { group: 'Administer', name: 'connect', label: 'Connect', load: () => import('./pages/connect.tsx') },
];
