import { crc32 } from 'node:zlib';

/** A row with its checksum, which is null in rows that were written before there were checksums. */
export type Checked<Row> = Row & { readonly checksum: number | null };

export function checksumOf(...values: readonly (string | number | null)[]): number {
  return crc32(JSON.stringify(values));
}

export function isWhole<Row>({ checksum, ...row }: Checked<Row>, sum: (row: Row) => number): boolean {
  return checksum === null || checksum === sum(row as Row);
}

/** The undamaged rows, without their checksums. */
export function wholeRows<Row>(rows: readonly Checked<Row>[], sum: (row: Row) => number): Row[] {
  return rows.filter((row) => isWhole(row, sum)).map(({ checksum, ...row }) => row as Row);
}
