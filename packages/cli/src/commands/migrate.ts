import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context } from '../context.ts';
import type { MigrateOptions } from '../migrate/run-migrate.ts';

export function migrateCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'migrate',
    summary:
      'copy a store to another one and verify the copy; run it again after an interruption; stop the server first',
    examples: [
      `${PROGRAM} migrate --from sqlite:.dragoman --to 'postgres://dragoman@db.example.com/agents'`,
      `${PROGRAM} migrate --from 'postgres://dragoman@db.example.com/agents' --to sqlite:copy`,
    ],
  })
    .requiredOption('--from <store>', 'the store to copy: sqlite:FOLDER or postgres://…')
    .requiredOption('--to <store>', 'an empty store, or the unfinished copy to continue');
  return runs<MigrateOptions>(command, context, async (options) => {
    // Loaded on use: only this command copies stores.
    const { runMigrate } = await import('../migrate/run-migrate.ts');
    return runMigrate(options, context);
  });
}
