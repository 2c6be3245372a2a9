import { expect, test } from 'vitest';
import { createClient } from './client.ts';

function answering(body: string, type = 'application/json') {
  const fetch = async () => new Response(body, { headers: { 'Content-Type': type } });
  return createClient({ url: 'http://127.0.0.1:9/behind', key: 'dgm_key', fetch });
}

test.each([
  ['<html>', 'HTML'],
  ['OK', 'something that is not JSON'],
  ['[]', 'an array'],
  ['null', 'null'],
  ['"x"', 'a text'],
  ['{}', 'an object without keys'],
  ['{"keys":{}}', 'an object without keys'],
])('an answer of another server is reported as what it is: %s', async (body, came) => {
  await expect(answering(body).admin.keys.list()).rejects.toMatchObject({
    code: 'unexpected_answer',
    status: 200,
    retryable: false,
    message: `http://127.0.0.1:9/behind/admin/v1/keys answered 200 with ${came}, which a Dragoman server does not send.`,
  });
});

test('an answer that is not a stream is not read as one, and not requested again', async () => {
  const page = answering('<html>\n', 'text/html');
  const refusal = { code: 'unexpected_answer', message: expect.stringContaining('answered 200 with text/html') };
  await expect(page.send('hello').text()).rejects.toMatchObject(refusal);
  await expect(page.workflows.events('x').next()).rejects.toMatchObject(refusal);
});

test('an agent that receives an invalid message gets an error', async () => {
  const agent = answering('null').agent({ agentId: 'desk' });
  await expect(agent.request('echo', 'say')).rejects.toMatchObject({ code: 'unexpected_answer' });
});
