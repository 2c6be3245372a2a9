import { resolve } from 'node:path';
import { type CopiedFamily, type CopyProgress, copyStore, isPostgresUrl, shownPostgresUrl } from '@dragoman/core';
import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { table } from '../table.ts';
import { fail } from '../trouble.ts';

export interface MigrateOptions {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

/** Copies a store, shows the progress, and says how to start a server on the copy. */
export async function runMigrate(options: MigrateOptions, context: Context): Promise<ExitCode> {
  const { terminal, now } = context;
  const [from, to] = [placeOf(options.from, context), placeOf(options.to, context)];
  const showProgress = progressLines(terminal.note, () => now().getTime());
  const families = await copyStore({ from, to }, options.json ? () => {} : showProgress).catch(refused);
  if (options.json) terminal.out(`${JSON.stringify({ from: shown(from), to: shown(to), families })}\n`);
  else terminal.out(`${familyTable(families)}\nAll rows are the same in both stores.\n${nextSteps(from, to)}`);
  return 0;
}

/** The place of a store. The path of a folder is resolved. */
function placeOf(text: string, { folder }: Context): string {
  const path = /^sqlite:(.+)$/.exec(text)?.[1];
  return path === undefined ? text : `sqlite:${resolve(folder, path)}`;
}

/** Prints a line for each table, and for long ones further lines now and then. */
function progressLines(note: (text: string) => void, now: () => number): (progress: CopyProgress) => void {
  let [shownTable, shownAt] = ['', 0];
  return ({ family, table, step, rows }) => {
    const line = `${step} ${table}`;
    if (line === shownTable && now() - shownAt < EVERY_MS) return;
    [shownTable, shownAt] = [line, now()];
    note(
      `${step === 'copy' ? 'copying' : 'verified'} ${family}: ${table} (${rows} rows${step === 'copy' ? ' so far' : ''})\n`,
    );
  };
}

function familyTable(families: readonly CopiedFamily[]): string {
  const rows = families.map(({ family, rows, checksum }) => [family, String(rows), checksum.slice(0, 16)]);
  return table(['FAMILY', 'ROWS', 'SHA-256'], rows);
}

function nextSteps(from: string, to: string): string {
  if (!isPostgresUrl(to)) return `Next: ${PROGRAM} serve --data ${asWord(to.slice(SQLITE.length))}\n`;
  const key = isPostgresUrl(from)
    ? ''
    : `  export DRAGOMAN_VAULT_KEY=$(cat ${asWord(`${from.slice(SQLITE.length)}/vault.key`)})\n`;
  return `Next, with store: ${shown(to)} in dragoman.yaml:\n${key}  ${PROGRAM} serve\n`;
}

function shown(place: string): string {
  return isPostgresUrl(place) ? shownPostgresUrl(place) : place;
}

function refused(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  if (typeof code === 'string' && (code.startsWith('store_') || code === 'driver_missing')) fail({ code, message });
  throw error;
}

const SQLITE = 'sqlite:';
const EVERY_MS = 2000;
