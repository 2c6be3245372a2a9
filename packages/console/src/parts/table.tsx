import type { ComponentChildren } from 'preact';

interface TableParts {
  readonly head: readonly string[];
  /** Those of the head whose cells are numbers. */
  readonly numbers?: readonly string[];
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the page. */
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
