import { nearest, show } from '@dragoman/protocols';
import { allows, type Principal } from '../../call/principal.ts';
import { linearPattern } from '../../schema/linear-pattern.ts';
import type { ReadVariables, References } from '../../vault/references.ts';
import type { ProcConfig } from './proc-config.ts';

/** The program for a `cmd`, or why it is refused. */
export type CommandFound =
  | {
      readonly ok: true;
      readonly command: string;
      readonly args: string[];
      readonly variables: ReadVariables;
    }
  | { readonly ok: false; readonly error: string };

/**
 * The operator's commands. An invalid pattern, or a variable that is not set, throws, so that the server does not
 * start.
 */
export class CommandList {
  readonly #commands: ReadonlyMap<string, ListedCommand>;

  constructor(commands: ProcConfig['commands'], references: References) {
    this.#commands = new Map(
      Object.entries(commands).map(([name, { command, args, more_args, env }]) => {
        const patternAt = (where: string, pattern: string) =>
          compiledAt(`wire.proc.commands.${name}.${where}`, pattern);
        const patterns = args.map((pattern, at) => patternAt(`args[${at}]`, pattern));
        const more = more_args === undefined ? undefined : patternAt('more_args', more_args);
        const variables = references.variables(env, `wire.proc.commands.${name}.env`);
        return [name, { command, patterns, more, variables }];
      }),
    );
  }

  find({ permissions }: Principal, [name = '', ...args]: readonly string[]): CommandFound {
    const allowed = [...this.#commands.keys()].filter((one) => allows(permissions.tools, `proc.${one}`));
    const listed = allowed.includes(name) ? this.#commands.get(name) : undefined;
    if (listed === undefined) {
      const close = nearest(name, allowed);
      const known = allowed.length === 0 ? 'you may start none' : `you may start ${allowed.join(', ')}`;
      const meant = close === undefined ? '' : `; did you mean ${show(close)}?`;
      return {
        ok: false,
        error: `cmd[0] must be a command that the operator lists; got ${show(name.slice(0, 80))}: ${known}${meant}`,
      };
    }
    const { command, patterns, more, variables } = listed;
    if (args.length < patterns.length) {
      return { ok: false, error: `cmd must have ${patterns.length} arguments after ${show(name)}; got ${args.length}` };
    }
    for (const [at, arg] of args.entries()) {
      const pattern = patterns[at] ?? more;
      if (pattern === undefined)
        return { ok: false, error: `cmd[${at + 1}] is one argument too many for ${show(name)}` };
      if (arg.includes('\0') || !pattern.matches(arg)) {
        return { ok: false, error: `cmd[${at + 1}] must match ${pattern.text}; got ${show(arg.slice(0, 200))}` };
      }
    }
    return { ok: true, command, args, variables };
  }
}

interface ListedCommand {
  readonly command: string;
  readonly patterns: readonly ArgumentPattern[];
  readonly more: ArgumentPattern | undefined;
  readonly variables: ReadVariables;
}

interface ArgumentPattern {
  readonly text: string;
  matches(arg: string): boolean;
}

function compiledAt(where: string, text: string): ArgumentPattern {
  try {
    // The whole argument: `status` must not allow `status --force`.
    const pattern = linearPattern(`^(?:${text})$`);
    return { text, matches: (arg) => !arg.includes('\n') && pattern.matches(arg) };
  } catch (error) {
    throw new Error(`${where} must be a pattern: ${(error as Error).message}`, { cause: error });
  }
}
