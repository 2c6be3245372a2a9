// A program that sends its name at once, and ends its answer when a file exists: `patient.mjs NAME FILE`.
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [name, file] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
  const { request_id } = JSON.parse(line);
  const say = (frame) => process.stdout.write(`${JSON.stringify({ request_id, ...frame })}\n`);
  say({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: `${name} ${process.pid}` } });
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10));
  say({ response_kind: 'e2a.complete', is_final: true, body: { result: { name } } });
}
