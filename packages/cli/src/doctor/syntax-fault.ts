import { spawnSync } from 'node:child_process';

/** Node's syntax error of a JavaScript file, with the line. The file is not run. */
export function syntaxFault(path: string): string | undefined {
  if (!/\.[cm]?js$/.test(path)) return undefined;
  const { status, stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' });
  if (status === 0) return undefined;
  const [place = path] = stderr.split('\n', 1);
  const reason = /^\w*Error: .*$/m.exec(stderr)?.[0] ?? 'Node cannot read it';
  return `${place}: ${reason}`;
}
