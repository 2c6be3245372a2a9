import type { ComponentChildren } from 'preact';

interface TableParts {
  readonly head: readonly string[];
  /** The headings of columns with numbers. */
  readonly numbers?: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with its own scroll bar if it is wider than the page. */
export function Table({ head, numbers = [], children }: TableParts) {
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} class={numbers.includes(name) ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
