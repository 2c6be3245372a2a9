// The Vercel AI SDK over its provider for OpenAI-compatible servers: whole, streamed, and with its own tool.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const { PEER_URL, PEER_KEY } = process.env;
const provider = createOpenAICompatible({
  name: 'dragoman',
  baseURL: `${PEER_URL}/v1`,
  apiKey: PEER_KEY,
  includeUsage: true,
});
const seen = {};
seen.text = (await generateText({ model: provider('worker'), prompt: 'work' })).text;

const stream = streamText({ model: provider('worker'), prompt: 'work' });
seen.streamed = '';
for await (const part of stream.textStream) seen.streamed += part;

const cities = [];
const weather = tool({
  description: 'The weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    cities.push(city);
    return 'rain';
  },
});
const helped = await generateText({
  model: provider('helper'),
  prompt: 'use weather',
  tools: { weather },
  stopWhen: stepCountIs(3),
});
seen.cities = cities;
seen.helped = helped.text;
seen.tokens = helped.totalUsage.totalTokens;
try {
  await generateText({ model: provider('nobody'), prompt: 'x', maxRetries: 0 });
} catch (error) {
  seen.unknown = error.statusCode;
}
console.log(JSON.stringify(seen));
