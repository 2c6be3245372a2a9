import { spawnSync } from 'node:child_process';
import { ROOT } from './page.ts';

/** Pages and examples use the packages as a reader does, built; what is up to date stays as it is. */
export function setup(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the packages cannot be built:\n${stdout}${stderr}`);
}
