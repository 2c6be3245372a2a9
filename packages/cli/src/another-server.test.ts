import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../test-support/temporary-folder.ts';
import { main } from './main.ts';

// Another program may listen at the URL and answer every request with 200.

const HEALTH = JSON.stringify({ status: 'healthy', service: 'a2e-server', version: '0' });
const BODIES: Readonly<Record<string, string>> = {
  html: '<html>',
  object: '{}',
  array: '[]',
  null: 'null',
  text: '"x"',
};

/** Every command that reads an answer. */
const COMMANDS = [
  'send hello',
  'watch req_1',
  'explain req_1',
  'agents list',
  'agents add other-agent --may-call *',
  'agents remove other-agent',
  'agents forget other-agent',
  'agents forget other-agent --request req_1',
  'agents register --card - --endpoint https://agent.example.com/',
  'agents discover',
  'agents call other-agent say --as desk',
  'keys create --agent other-agent',
  'keys list',
  'keys revoke key_1',
  'vault set crm - --type api-key --host api.example.com',
  'vault list',
  'vault remove crm',
  'vault rotate',
  'apis add crm --base-url https://api.example.com',
  'apis list',
  'apis remove crm',
  'tools list',
  'tools call add',
  'tools accept files__read',
  'workflow validate -',
  'workflow plan -',
  'workflow run -',
  'workflow stored list',
  'workflow stored put report -',
  'workflow stored remove report',
];

describe.each(Object.keys(BODIES))('a server that answers %s', (kind) => {
  let server: Server;
  let url = '';

  beforeAll(async () => {
    server = createServer((request, response) => {
      const isHealth = request.url === '/as-if/health';
      const type = kind === 'html' && !isHealth ? 'text/html' : 'application/json';
      response.writeHead(200, { 'Content-Type': type }).end(isHealth ? HEALTH : BODIES[kind]);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const run = async (command: string, place: string) => {
    const environment = { DRAGOMAN_KEY: 'dgm_agent', DRAGOMAN_ADMIN_KEY: 'dgm_admin' };
    const surroundings = new FakeSurroundings({
      folder: temporaryFolder(),
      environment,
      stdin: '{"agent_id":"other-agent"}',
    });
    const code = await main([...command.split(' '), '--url', place], surroundings);
    return { code, out: surroundings.out, notes: surroundings.notes };
  };

  test.each(COMMANDS)(
    '%s reports it, and how to find out what it is',
    async (command) => {
      // Also where it is as healthy as ours.
      for (const place of [url, `${url}/as-if`]) {
        const { code, out, notes } = await run(command, place);
        expect(notes, command).toContain(place);
        expect(notes).toContain('which a Dragoman server does not send');
        expect(notes).toContain(`→ check what is listening there: npx dragoman doctor --url ${place}\n`);
        expect(notes).not.toMatch(/our side|TypeError|undefined|^\s+at /m);
        expect([code, out]).toEqual([1, '']);
      }
    },
    10_000,
  );
});
