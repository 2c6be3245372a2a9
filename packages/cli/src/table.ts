import { displayWidth, fitting } from './display-width.ts';
import { visible } from './visible.ts';

/**
 * A table with aligned columns. A cell is one line: invisible characters, including line ends, are made visible. If the
 * rows are wider than the screen, the widest columns are cut until they fit, except the first, which has the name that
 * other commands take. A file or a pipe gets everything.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = Number.POSITIVE_INFINITY }: { columns?: number | undefined } = {},
): string {
  const all = [headings, ...rows.map((row) => row.map(cellText))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  shrink(widths, columns - GAP.length * (widths.length - 1));
  return all
    .map((row) => {
      const cells = row.map((cell, column) => fitting(cell, widths[column] ?? 0));
      return `${cells.join(GAP).trimEnd()}\n`;
    })
    .join('');
}

/** Shortens the widest column except the first until the sum fits or all are narrow. */
function shrink(widths: number[], room: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= NARROWEST) return;
    widths[widths.lastIndexOf(widest)] = widest - 1;
    excess -= 1;
  }
}

function cellText(text: string): string {
  return visible(text).replaceAll(/[\n\r\t]/g, ' ');
}

const GAP = '  ';
const NARROWEST = 8;
