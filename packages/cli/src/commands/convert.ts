import { randomBytes } from 'node:crypto';
import { type Conversion, convert, type Dialect, type Issue, type Json, type Outcome } from '@dragoman/protocols';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import type { Context, ExitCode } from '../context.ts';
import { DIALECT_NAMES, dialectOption } from '../dialect-names.ts';
import { readInput } from '../input.ts';
import { issueLines } from '../issue-lines.ts';
import { type MessageFile, readMessageFile } from '../message-file.ts';
import { paint } from '../paint.ts';
import { visible } from '../visible.ts';

interface ConvertOptions {
  readonly from?: string;
  readonly to: string;
  readonly lenient?: boolean;
}

export function convertCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'convert',
    summary: 'convert a request to another protocol and report what is lost; needs no server',
    examples: [
      `${PROGRAM} convert --from a2a-mailbox --to e2a message.json`,
      `${PROGRAM} convert --to a2a-messages --json - < envelope.json`,
    ],
  })
    .argument('<file>', 'the message; use - to read it from stdin')
    .option('--from <dialect>', `${DIALECT_NAMES.join(', ')} (default: recognized by its shape)`)
    .requiredOption('--to <dialect>', 'the target dialect')
    .option('--lenient', 'accept minor errors, with warnings');
  return runs<ConvertOptions>(command, context, (options, [file = '']) => convertFile(file, options, context));
}

async function convertFile(
  file: string,
  { from, to, lenient = false, json }: ConvertOptions & { json: boolean },
  context: Context,
): Promise<ExitCode> {
  const given = from === undefined ? undefined : dialectOption('--from', from);
  const target = dialectOption('--to', to);
  const bytes = await readInput(file, context);
  const read = readMessageFile(bytes, given);
  const outcome = read.ok ? converted(read.value, { to: target, lenient, now: context.now() }) : read;
  if (!outcome.ok) return refuse(outcome.issues, { bytes, json, context });
  print(outcome.value, json, context);
  return 0;
}

function converted(
  message: MessageFile,
  { to, lenient, now }: { to: Dialect<unknown>; lenient: boolean; now: Date },
): Outcome<Conversion> {
  // A workflow travels as the body of a request.
  const json: Json = message.kind === 'message' ? message.json : { workflow: message.text };
  const stamp = { id: randomBytes(16).toString('hex'), now };
  return convert(json, { from: message.dialect, to, stamp, lenient });
}

function print({ result, losses, warnings }: Conversion, json: boolean, { terminal }: Context): void {
  if (json) {
    terminal.out(`${JSON.stringify({ result, losses, warnings })}\n`);
    return;
  }
  const text = JSON.stringify(result, null, 2);
  terminal.out(`${text}\n`);
  const colours = paint(terminal.colour.note);
  for (const { pointer, why } of losses) {
    terminal.note(`${colours.yellow('lost')} ${visible(`${pointer === '' ? '(whole message)' : pointer}: ${why}`)}\n`);
  }
  terminal.note(issueLines(warnings, { label: 'warning ', text: undefined, paint: colours }));
}

function refuse(
  issues: readonly Issue[],
  { bytes, json, context: { terminal } }: { bytes: Uint8Array; json: boolean; context: Context },
): ExitCode {
  if (json) {
    terminal.out(`${JSON.stringify({ result: null, losses: [], warnings: [], issues })}\n`);
    return 1;
  }
  const colours = paint(terminal.colour.note);
  terminal.note(`${colours.red('error:')} the message cannot be converted to another dialect\n`);
  terminal.note(issueLines(issues, { label: '', text: new TextDecoder().decode(bytes), paint: colours }));
  return 1;
}
