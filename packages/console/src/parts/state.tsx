/** A state in one word, with a colour. */
export function State({ state }: { readonly state: string }) {
  return <span class={`badge ${COLOURS[state] ?? ''}`}>{state.replaceAll('_', ' ')}</span>;
}

const COLOURS: Readonly<Record<string, string>> = {
  succeeded: 'good',
  completed: 'good',
  success: 'good',
  delivered: 'good',
  answered: 'good',
  ready: 'good',
  ok: 'good',
  active: 'good',
  live: 'good',
  failed: 'bad',
  error: 'bad',
  dead: 'bad',
  revoked: 'bad',
  expired: 'bad',
  down: 'bad',
  failing: 'bad',
  away: 'warn',
  leaving: 'warn',
  cancelled: 'warn',
  refused: 'bad',
  interrupted: 'warn',
  held: 'warn',
  due: 'warn',
  waiting: 'warn',
  accepted: 'warn',
  running: 'live',
  started: 'live',
  in_progress: 'live',
};
