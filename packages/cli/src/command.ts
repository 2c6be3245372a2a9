import { Command, InvalidArgumentError, type Option } from 'commander';
import type { Context, ExitCode } from './context.ts';

export interface CommandDescription {
  /** All of it: `agents add`. */
  readonly name: string;
  readonly summary: string;
  /** Whole commands, to paste. */
  readonly examples: readonly string[];
}

/** A command with `--json`, `--help` with examples, and without its own exit. */
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
    // An argument that takes several words is one text.
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

/** For options that are a whole number. */
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

/** For options that name something: an empty text is most often a variable of a shell that is not set. */
export function nonEmptyName(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It must not be empty; set a value or omit the option.');
}

/** For options that may be given several times. */
export function each(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** The command name for everything that users are to paste. */
export const PROGRAM = 'npx dragoman';

/** In seconds, the longest sensible value. */
export const A_YEAR = 366 * 24 * 3600;
