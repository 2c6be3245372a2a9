import { processTerminal, type Terminal } from './terminal.ts';

/** The parts of the process that commands use. Tests pass their own. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths are taken from. */
  readonly folder: string;
  readonly now: () => Date;
  /** Reports every Ctrl-C and every request to end, until the returned function is called. */
  readonly onSignal: (listener: () => void) => () => void;
  /** Reports every SIGHUP, which otherwise ends the process, until the returned function is called. */
  readonly onHangUp: (listener: () => void) => () => void;
  /** Reports uncaught errors, which otherwise end the process, until the returned function is called. */
  readonly onStrayError: (listener: StrayErrorListener) => () => void;
  /** Ends the process immediately, even with open handles. */
  readonly exit: (code: number) => void;
}

/** An unhandled rejection, or an exception from a callback that Node called. */
export type StrayErrorListener = (error: unknown, kind: 'rejection' | 'exception') => void;

export function processSurroundings(): Surroundings {
  return {
    terminal: processTerminal({ environment: process.env }),
    environment: process.env,
    folder: process.cwd(),
    now: () => new Date(),
    onSignal: (listener) => {
      for (const signal of SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
    onHangUp: (listener) => {
      process.on('SIGHUP', listener);
      return () => process.off('SIGHUP', listener);
    },
    onStrayError: (listener) => {
      const onRejection = (error: unknown) => listener(error, 'rejection');
      const onException = (error: unknown) => listener(error, 'exception');
      process.on('unhandledRejection', onRejection).on('uncaughtException', onException);
      return () => process.off('unhandledRejection', onRejection).off('uncaughtException', onException);
    },
    exit: (code) => process.exit(code),
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
