/** A time relative to now, with the exact time as its tooltip. */
export function When({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="dim">never</span>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(new Date(at).getTime())}
    </time>
  );
}

function ago(at: number): string {
  const seconds = Math.round((Date.now() - at) / 1000);
  const [size, unit] = UNITS.find(([most]) => Math.abs(seconds) < most * 60) ?? [86_400, 'd'];
  const count = Math.max(0, Math.floor(Math.abs(seconds) / size));
  if (unit === 's' && count < 3) return 'now';
  return seconds < 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [1, 's'],
  [60, 'min'],
  [3600, 'h'],
];
