import { useState } from 'preact/hooks';
import { Text } from './text.tsx';

/** Untrusted JSON, with a button to copy it. */
export function Json({ value, label }: { readonly value: unknown; readonly label?: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? 'undefined'} label={label ?? 'JSON'} />;
}

/** Text with a button to copy it. A very long text is shown in part. */
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
      // A page has a clipboard only over https or on localhost.
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
