// What the server is measured against: a loop that writes the chunks of a chat completion as server-sent events.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    const { model, messages } = JSON.parse(Buffer.concat(parts).toString());
    const head = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_790_000_000, model };
    const send = async (delta, finish_reason) => {
      const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
      const isFree = response.write(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
      if (!isFree) await new Promise((resolve) => response.once('drain', resolve));
    };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    await send({ role: 'assistant', content: '' }, null);
    for (let count = Number(messages.at(-1).content); count > 0; count--) await send({ content: 'word ' }, null);
    await send({}, 'stop');
    response.end('data: [DONE]\n\n');
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
