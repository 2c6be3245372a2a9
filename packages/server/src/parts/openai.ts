import { OpenAiEndpoint, type StoredWorkflows } from '@dragoman/core';
import { openAiRoutes } from '../routes/openai.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';
import type { ToolsPart } from './tools.ts';

export interface OpenAiPartOptions extends Service, Pick<ToolsPart, 'everyAgent'> {
  readonly stored: StoredWorkflows;
}

/** Serves every agent and stored workflow of this server as a model of OpenAI's API. */
export function openOpenAiPart(options: OpenAiPartOptions): ServerPart {
  const { config, clock, everyAgent } = options;
  const endpoint = new OpenAiEndpoint({ ...options, agents: everyAgent });
  return { routes: openAiRoutes({ endpoint, clock, maxBytes: config.limits.body_bytes }) };
}
