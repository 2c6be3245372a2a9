import type { Command } from 'commander';
import { integer, newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import { withAdminKey, withAdminKeyOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import type { DoctorOptions } from '../doctor/doctor.ts';
import type { DoctorFinding } from '../doctor/finding.ts';
import { DEFAULT_CONFIG, DEFAULT_DATA, DEFAULT_HOST, DEFAULT_PORT } from '../environment.ts';
import { type Paint, paint } from '../paint.ts';
import { visible } from '../visible.ts';

export function doctorCommand(context: Context): Command {
  const { terminal } = context;
  const command = newCommand(context, {
    name: 'doctor',
    summary: 'check the installation and a running server, and suggest fixes',
    examples: [
      `${PROGRAM} doctor`,
      `${PROGRAM} doctor --url http://127.0.0.1:7420 --json`,
      `${PROGRAM} doctor --probe`,
    ],
  })
    .option('--url <url>', 'a running server to check')
    .option('--config <file>', `the configuration file (default: ${DEFAULT_CONFIG}, if it exists)`)
    .option('--host <address>', `the address a server would listen on (default: ${DEFAULT_HOST})`)
    .option(
      '--port <number>',
      `the port a server would listen on (default: ${DEFAULT_PORT})`,
      integer({ from: 0, to: 65_535 }),
    )
    .option('--data <folder>', `the data folder (default: ${DEFAULT_DATA})`, nonEmptyName)
    .option('--probe', 'send each agent of the configuration a real request; model costs may apply')
    .option('--key <key>', 'an API key to check (default: DRAGOMAN_KEY)');
  withAdminKeyOptions(command, '(default: DRAGOMAN_ADMIN_KEY)');
  return runs<DoctorOptions>(command, context, async (options) => {
    const { examineInstallation } = await import('../doctor/doctor.ts');
    const checks = await examineInstallation(await withAdminKey(options, context), context);
    const ok = checks.every((finding) => finding.ok);
    const text = checks.map((finding) => findingLines(finding, paint(terminal.colour.out))).join('');
    terminal.out(options.json ? `${JSON.stringify({ ok, checks })}\n` : text);
    return ok ? 0 : 1;
  });
}

function findingLines({ check, ok, message, fix }: DoctorFinding, { green, red, dim }: Paint): string {
  const line = `${ok ? green('ok  ') : red('fail')} ${check.padEnd(13)}  ${visible(message)}\n`;
  return fix === undefined ? line : `${line}${' '.repeat(20)}${dim('→')} ${visible(fix)}\n`;
}
