import type { Command } from 'commander';
import { checkMessage, type MessageVerdict } from '../check-message.ts';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { DIALECT_NAMES, dialectOption } from '../dialect-names.ts';
import { readInput } from '../input.ts';
import { issueLines } from '../issue-lines.ts';
import { readMessageFile } from '../message-file.ts';
import { paint } from '../paint.ts';

interface CheckOptions {
  readonly dialect?: string;
  readonly lenient?: boolean;
}

export function checkCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'check',
    summary: 'check a message and report every problem; needs no server',
    examples: [`${PROGRAM} check message.json`, `${PROGRAM} check --dialect a2e-workflow --json - < workflow.jsonl`],
  })
    .argument('<file>', 'the message, or a workflow as JSON lines; use - to read it from stdin')
    .option('--dialect <name>', `${DIALECT_NAMES.join(', ')} (default: recognized by its shape)`)
    .option('--lenient', 'accept minor errors, with warnings');
  return runs<CheckOptions>(command, context, (options, [file = '']) => check(file, options, context));
}

async function check(file: string, options: CheckOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const dialect = options.dialect === undefined ? undefined : dialectOption('--dialect', options.dialect);
  const bytes = await readInput(file, context);
  const read = readMessageFile(bytes, dialect, '--dialect');
  const verdict: MessageVerdict = read.ok
    ? checkMessage(read.value, { now: context.now(), lenient: options.lenient ?? false })
    : { valid: false, issues: read.issues, warnings: [] };
  if (options.json) terminal.out(`${JSON.stringify(verdictJson(verdict))}\n`);
  else {
    const dialect = read.ok ? read.value.dialect.name : options.dialect;
    terminal.out(verdictText(verdict, { dialect, bytes, colour: terminal.colour.out }));
  }
  return verdict.valid ? 0 : 1;
}

function verdictJson({ valid, issues, warnings }: MessageVerdict) {
  const shown = ({ pointer, code, message, suggestion }: MessageVerdict['issues'][number]) => ({
    pointer,
    code,
    message,
    ...(suggestion !== undefined && { suggestion }),
  });
  return { valid, issues: issues.map(shown), warnings: warnings.map(shown) };
}

function verdictText(
  { valid, issues, warnings }: MessageVerdict,
  { dialect = 'unknown dialect', bytes, colour }: { dialect: string | undefined; bytes: Uint8Array; colour: boolean },
): string {
  const colours = paint(colour);
  const text = new TextDecoder().decode(bytes);
  const count = issues.length === 1 ? '1 problem' : `${issues.length} problems`;
  const headline = valid
    ? `${colours.green('valid')} (${dialect})`
    : `${colours.red('not valid')} (${dialect}), ${count}:`;
  return [
    `${headline}\n`,
    issueLines(issues, { label: '', text, paint: colours }),
    issueLines(warnings, { label: `${colours.yellow('warning')} `, text, paint: colours }),
  ].join('');
}
