import * as validators from '../generated/openai.js';
import type { Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf } from '../validation.ts';
import { ChatCompletionRequest, CreateResponseRequest } from './shapes.ts';

export function decodeChatCompletion(json: Json): Outcome<ChatCompletionRequest> {
  const issues = issuesOf(validators.ChatCompletionRequest, ChatCompletionRequest, json);
  return issues.length > 0 ? reject(...issues) : accept(json as unknown as ChatCompletionRequest);
}

export function decodeCreateResponse(json: Json): Outcome<CreateResponseRequest> {
  const issues = issuesOf(validators.CreateResponseRequest, CreateResponseRequest, json);
  return issues.length > 0 ? reject(...issues) : accept(json as unknown as CreateResponseRequest);
}
