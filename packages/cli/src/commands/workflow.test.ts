import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { DemoApi } from '../demo/api.ts';
import { demoWorkflows } from '../demo/workflows.ts';
import { main } from '../main.ts';

const api = await DemoApi.start('demo-key-of-the-test');
afterAll(() => api[Symbol.asyncDispose]());
const workflows = demoWorkflows(api.url);
const ACTIVE = workflows['active-users.jsonl'] ?? '';

async function run(args: readonly string[], { stdin = '', isTTY = false } = {}) {
  const surroundings = new FakeSurroundings({ folder: temporaryFolder(), stdin, isTTY });
  const code = await main(args, surroundings);
  return { code, out: surroundings.out, notes: surroundings.notes, folder: surroundings.folder };
}

describe('without a server', () => {
  test('a workflow is run, with a line for each operation, then its end and its result', async () => {
    const { code, out, notes } = await run(['workflow', 'run', '--allow', api.host, '-'], { stdin: ACTIVE });
    expect({ code, notes }).toEqual({ code: 0, notes: '' });
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^ {2}✓ fetch-users {2}\d+ ms$/);
    expect(lines[1]).toMatch(/^ {2}✓ filter-active {2}\d+ ms$/);
    expect(lines[3]).toMatch(/^success active-users-[0-9a-f]{8}, \d+ ms$/);
    expect(JSON.parse(lines.slice(4).join('\n'))).toMatchObject([{ name: 'Ada' }, { name: 'Dora' }, { name: 'Brook' }]);
  });

  test('a host that is not allowed is named with the option that allows it', async () => {
    const { code, notes } = await run(['workflow', 'run', '-'], { stdin: ACTIVE });
    expect(code).toBe(1);
    expect(notes).toBe(
      `  → allow it for this run: --allow ${api.host}, or run it on a server that allows it: --url URL\n`,
    );
  });

  test('a workflow that needs a credential is sent to the server that has it', async () => {
    const stdin = workflows['order-totals.jsonl'] ?? '';
    const { code, notes } = await run(['workflow', 'run', '--allow', api.host, '-'], { stdin });
    expect(code).toBe(1);
    expect(notes).toContain('  → run it on the server that has the credential: --url URL\n');
  });

  test('a file that is no workflow is reported with its first problems and the number of the others', async () => {
    const { code, notes } = await run(['workflow', 'run', '-'], { stdin: 'prose\n'.repeat(150) });
    expect(code).toBe(1);
    expect(notes).toContain('line 20: expected a JSON value; got "prose"');
    expect(notes).not.toContain('line 21:');
    expect(notes).toContain('  and 81 more; --json lists them\n');
  });

  test('as JSON it is the result alone, under its own id on request', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'w.jsonl'), ACTIVE);
    const surroundings = new FakeSurroundings({ folder });
    const code = await main(['workflow', 'run', '--json', '--keep-id', '--allow', api.host, 'w.jsonl'], surroundings);
    expect(code).toBe(0);
    expect(JSON.parse(surroundings.out)).toMatchObject({ execution_id: 'active-users', status: 'success' });
  });

  test('a configuration whose ports a running server uses still runs', async () => {
    const folder = temporaryFolder();
    const port = Number(api.host.split(':')[1]);
    const config = { port, wire: { port }, gate: { allow: [api.host] }, agents: { gone: { driver: 'http' } } };
    writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
    const surroundings = new FakeSurroundings({ folder, stdin: ACTIVE });
    expect(await main(['workflow', 'run', '-'], surroundings)).toBe(0);
    expect(surroundings.out).toContain('success');
  });

  test('a cached response is marked as such', async () => {
    const call = (id: string) =>
      JSON.stringify({
        type: 'operationUpdate',
        operationId: id,
        operation: { ApiCall: { method: 'GET', url: `${api.url}/users`, outputPath: `/workflow/${id}` } },
      });
    const order = { type: 'beginExecution', executionId: 'twice', operationOrder: ['first', 'again'] };
    const stdin = `${call('first')}\n${call('again')}\n${JSON.stringify(order)}\n`;
    for (const isTTY of [false, true]) {
      const { out } = await run(['workflow', 'run', '--allow', api.host, '-'], { stdin, isTTY });
      const ended = out.split('\n').filter((line) => line.includes('✓'));
      expect(ended).toEqual([expect.stringContaining('first'), expect.stringContaining('again')]);
      expect(ended.map((line) => line.includes(' ms, cached'))).toEqual([false, true]);
    }
  });

  test('on a screen the running operation is shown until it ends', async () => {
    const { out } = await run(['workflow', 'run', '--allow', api.host, '-'], { stdin: ACTIVE, isTTY: true });
    expect(out).toContain('  … fetch-users\r');
  });

  test('a host that is not allowed is not called, and the command fails', async () => {
    const { code, out } = await run(['workflow', 'run', '-'], { stdin: ACTIVE });
    expect(code).toBe(1);
    expect(out).toContain('✗ fetch-users');
    expect(out).toContain('not run: filter-active, sort-by-points');
  });

  test('a workflow is checked and planned', async () => {
    const broken = ACTIVE.replace('"/workflow/users","conditions"', '"/workflow/usres","conditions"');
    const wrong = await run(['workflow', 'validate', '-'], { stdin: broken });
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('not valid');
    expect(wrong.out).toContain('/workflow/users');
    const plan = await run(['workflow', 'plan', '-'], { stdin: ACTIVE });
    expect(plan.code).toBe(0);
    expect(plan.out).toContain(`GET ${api.url}/users`);
    expect(plan.out).toContain('3 steps, 1 API calls');
    const refused = await run(['workflow', 'run', '-'], { stdin: broken });
    expect(refused.code).toBe(1);
    // As every other command that calls a server prints it.
    expect(refused.notes).toMatch(/^error: .*filter-active: .*usres/);
    expect(refused.notes).toContain('/workflow/users');
    const both = broken.replace('"/workflow/active","transform"', '"/workflow/atcive","transform"');
    for (const command of ['plan', 'run']) {
      const { notes } = await run(['workflow', command, '-'], { stdin: both });
      expect(notes.split('\n').filter((line) => /usres|atcive/.test(line))).toEqual([
        expect.stringContaining('filter-active: '),
        expect.stringContaining('  sort-by-points: '),
      ]);
      const { notes: json } = await run(['workflow', command, '--json', '-'], { stdin: both });
      expect(JSON.parse(json).error.issues).toMatchObject([
        { operationId: 'filter-active' },
        { operationId: 'sort-by-points' },
      ]);
    }
    const level = await run(['workflow', 'plan', '--level', 'stern', '-'], { stdin: ACTIVE });
    expect([level.code, level.notes]).toEqual([2, expect.stringContaining('strict, moderate, lenient')]);
  });
});
