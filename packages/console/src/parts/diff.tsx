import { useMemo } from 'preact/hooks';
import { lineDiff } from '../line-diff.ts';
import { Text } from './text.tsx';

/** The removed and added lines of two foreign texts, marked by signs as well as colours. */
export function Diff({
  before,
  now,
  label,
}: {
  readonly before: string;
  readonly now: string;
  readonly label: string;
}) {
  const lines = useMemo(() => lineDiff(before, now), [before, now]);
  if (before === now) return <p class="dim">No difference.</p>;
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map(({ kind, text }, at) => (
        <div key={at} class={kind}>
          {SIGNS[kind]} <Text value={text} />
        </div>
      ))}
    </pre>
  );
}

/** The difference of two definitions as JSON, with their members in the same order. */
export function JsonDiff({
  before,
  now,
  label,
}: {
  readonly before: unknown;
  readonly now: unknown;
  readonly label: string;
}) {
  return <Diff before={JSON.stringify(before, null, 2)} now={JSON.stringify(now, null, 2)} label={label} />;
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;
