import { useState } from 'preact/hooks';
import { Text } from './text.tsx';

/** JSON that somebody else wrote, to be read and copied. */
export function Json({ value, label }: { readonly value: unknown; readonly label?: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? 'undefined'} label={label ?? 'JSON'} />;
}

/** Text to be read and copied. A very long one is shown in part. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > MOST;
  return (
    <div class="with-copy">
      <pre tabIndex={0} role="region" aria-label={label}>
        <Text value={isCut ? text.slice(0, MOST) : text} />
      </pre>
      <Copy text={text} />
      {isCut && (
        <p>
          <button type="button" onClick={() => setWhole(true)}>
            Show all {Math.ceil(text.length / 1024)} KiB
          </button>
        </p>
      )}
    </div>
  );
}

export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [status, setStatus] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus('Copied');
    } catch {
      // Pages of plain http addresses other than localhost have no clipboard.
      setStatus('Select and copy');
    }
    setTimeout(() => setStatus(undefined), 1500);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {status ?? label}
    </button>
  );
}

const MOST = 40_000;
