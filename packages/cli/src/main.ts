import { type Command, CommanderError } from 'commander';
import { newCommand, PROGRAM } from './command.ts';
import { acpCommand } from './commands/acp.ts';
import { agentsCommand } from './commands/agents.ts';
import { apisCommand } from './commands/apis.ts';
import { checkCommand } from './commands/check.ts';
import { clientCommand } from './commands/client.ts';
import { convertCommand } from './commands/convert.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { explainCommand } from './commands/explain.ts';
import { keysCommand } from './commands/keys.ts';
import { knowledgeCommand } from './commands/knowledge.ts';
import { listenCommand } from './commands/listen.ts';
import { mcpCommand } from './commands/mcp.ts';
import { migrateCommand } from './commands/migrate.ts';
import { questionsCommand } from './commands/questions.ts';
import { sendCommand } from './commands/send.ts';
import { serveCommand } from './commands/serve.ts';
import { toolsCommand } from './commands/tools.ts';
import { tourCommand } from './commands/tour.ts';
import { vaultCommand } from './commands/vault.ts';
import { watchCommand } from './commands/watch.ts';
import { wireCommand } from './commands/wire.ts';
import { workflowCommand } from './commands/workflow.ts';
import type { Context, ExitCode } from './context.ts';
import type { Surroundings } from './surroundings.ts';
import { printTrouble, troubleOf, unforeseen } from './trouble.ts';
import { CLI_VERSION } from './version.ts';
import { visibleTerminal } from './visible.ts';

/** Runs the command that the arguments name. Resolves with the exit code; never throws. */
export async function main(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let code: ExitCode = 0;
  const context: Context = {
    ...surroundings,
    terminal: visibleTerminal(surroundings.terminal),
    finish: (given) => {
      code = given;
    },
  };
  const program = newCommand(context, {
    name: 'dragoman',
    summary: 'Self-hosted hub for AI agents: one server for all their protocols.',
    examples: [`${PROGRAM} dev`, `${PROGRAM} send "hello"`],
  }).version(CLI_VERSION, '--version', 'show the version');
  for (const command of COMMANDS) program.addCommand(command(context));
  try {
    await program.parseAsync(withHelpFirst(args, program), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const trouble = troubleOf(error) ?? unforeseen(error);
    printTrouble(trouble, context.terminal, args.includes('--json'));
    return trouble.exitCode ?? 1;
  }
}

/** `dragoman help agents add` is `dragoman agents add --help`; an unknown command is an error. */
function withHelpFirst([first, ...names]: readonly string[], program: Command): readonly string[] {
  if (first !== 'help') return first === undefined ? [] : [first, ...names];
  let found: Command | undefined = program;
  for (const name of names) found = found?.commands.find((command) => command.name() === name);
  return found === undefined ? names : [...names, '--help'];
}

/** Every command, in the order the help shows them. A new one is a file and a line here. */
const COMMANDS = [
  serveCommand,
  devCommand,
  tourCommand,
  sendCommand,
  questionsCommand,
  watchCommand,
  explainCommand,
  acpCommand,
  wireCommand,
  mcpCommand,
  toolsCommand,
  workflowCommand,
  agentsCommand,
  keysCommand,
  clientCommand,
  vaultCommand,
  apisCommand,
  knowledgeCommand,
  checkCommand,
  convertCommand,
  listenCommand,
  doctorCommand,
  migrateCommand,
] as const;
