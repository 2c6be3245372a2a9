import { Command, InvalidArgumentError, type Option } from 'commander';
import type { Context, ExitCode } from './context.ts';

export interface CommandDescription {
  /** The full name, such as `agents add`. */
  readonly name: string;
  readonly summary: string;
  /** Whole commands, to paste. */
  readonly examples: readonly string[];
}

/** A command with `--json` and with examples in its `--help`. It does not exit by itself. */
export function newCommand(context: Context, { name, summary, examples }: CommandDescription): Command {
  const { terminal } = context;
  return new Command(name.split(' ').at(-1))
    .description(summary)
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ optionDescription })
    .helpCommand(false)
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      `\nExample${examples.length > 1 ? 's' : ''}:\n${examples.map((line) => `  ${line}`).join('\n')}`,
    )
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .showHelpAfterError(`(see: ${name === 'dragoman' ? PROGRAM : `${PROGRAM} ${name}`} --help)`)
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.note(text),
      getOutHasColors: () => terminal.colour.out,
      getErrHasColors: () => terminal.colour.note,
    })
    .exitOverride();
}

/** Runs `run` when the command is called; it returns the exit code. */
export function runs<Options extends object>(
  command: Command,
  context: Context,
  run: (options: Options & { json: boolean }, args: readonly string[]) => Promise<ExitCode>,
): Command {
  return command.action(async () => {
    const { json = false, ...options } = command.optsWithGlobals<Options & { json?: boolean }>();
    // The words of a variadic argument are joined to one text.
    const args = command.processedArgs.filter((value) => value !== undefined).map((value) => [value].flat().join(' '));
    context.finish(await run({ ...(options as unknown as Options), json }, args));
  });
}

/** The description of an option, its values, its default, and whether it is required. */
function optionDescription({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  mandatory,
}: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  const usual = defaultValueDescription ?? (typeof defaultValue === 'string' ? defaultValue : undefined);
  return `${description}${choices}${usual === undefined ? '' : ` (default: ${usual === '' ? 'none' : usual})`}${mandatory ? '; required' : ''}`;
}

/** A parser for options that are integers. */
export function integer({ from, to = Number.MAX_SAFE_INTEGER }: { from: number; to?: number }) {
  return (text: string): number => {
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(
      to === Number.MAX_SAFE_INTEGER
        ? `Give ${from} or a larger whole number.`
        : `Give a whole number from ${from} to ${to}.`,
    );
  };
}

/** A parser for options that are names. An empty one is most often a shell variable that is not set. */
export function nonEmptyName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty; set a value or omit the option.');
}

/** A parser for options that may be repeated. */
export function each(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** The command name in everything that users can paste. */
export const PROGRAM = 'npx dragoman';

/** In seconds, the longest sensible value. */
export const A_YEAR = 366 * 24 * 3600;
