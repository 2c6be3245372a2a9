import { visible } from './visible.ts';

/** Rows under their headings, columns in line. A cell is one line: whatever is not seen in it is made visible, line ends too. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(cellText))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function cellText(text: string): string {
  return visible(text).replaceAll(/[\n\r\t]/g, ' ');
}
