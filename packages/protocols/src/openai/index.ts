export {
  addedUsage,
  type CompletionDelta,
  CompletionFold,
  errorText,
  type FunctionCall,
  type TokenUsage,
} from './completion-fold.ts';
