import { type Command, Option } from 'commander';
import { integer, nonEmptyName } from '../command.ts';
import { DEFAULT_CONFIG, DEFAULT_HOST, DEFAULT_PORT } from '../environment.ts';

/** The options for the address and data of a server; `doctor` uses them too. */
export function withServeOptions(command: Command, { data }: { data: string }): Command {
  return command
    .option('--config <file>', `the configuration file (default: ${DEFAULT_CONFIG}, if it exists)`)
    .option('--host <address>', `the address to listen on (default: ${DEFAULT_HOST})`)
    .option(
      '--port <number>',
      `the port; 0 picks a free port (default: ${DEFAULT_PORT})`,
      integer({ from: 0, to: 65_535 }),
    )
    .option('--data <folder>', `the data folder (default: ${data})`, nonEmptyName);
}

/** The log levels, the most verbose first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Adds the option for commands that run a server. */
export function withLogLevel(command: Command): Command {
  return command.addOption(
    new Option('--log-level <level>', 'the lowest log level to show').choices(LOG_LEVELS).default(undefined, 'info'),
  );
}

/** Adds the option for commands that may start with a database that has lost records. */
export function withAcceptLoss(command: Command): Command {
  return command.option(
    '--accept-loss',
    'start even if the database is missing or older than expected; lost records are not recovered',
  );
}
