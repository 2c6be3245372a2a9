import { Copy } from './json.tsx';

/** A key that is shown only once. */
export function Secret({ value }: { readonly value: string }) {
  return (
    <div class="notice" role="status">
      <strong>Copy this key now. It is not shown again.</strong>
      <p class="bar">
        <code>{value}</code> <Copy text={value} />
      </p>
    </div>
  );
}
