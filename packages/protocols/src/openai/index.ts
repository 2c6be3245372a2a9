export { ChatAnswer, type ChatAnswerOptions } from './chat-answer.ts';
export {
  addedUsage,
  type CompletionDelta,
  CompletionFold,
  errorText,
  type FunctionCall,
  type TokenUsage,
} from './completion-fold.ts';
export { decodeChatCompletion, decodeCreateResponse } from './decode.ts';
export { type OpenAiError, openAiErrorIn, openAiErrorOf } from './errors.ts';
export type { AnswerFinish } from './hub-answer.ts';
export { ResponseAnswer, type ResponseAnswerOptions } from './response-answer.ts';
export type { ChatCompletionRequest, CreateResponseRequest } from './shapes.ts';
export { type ChatAsk, type ChatDetails, chatAskOf, chatEnvelope, responseAskOf } from './to-envelope.ts';
