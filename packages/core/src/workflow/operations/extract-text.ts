import type { Json } from '@dragoman/protocols';
import { type ExtractTextConfig, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { textAt } from '../input.ts';
import type { Operation } from '../operation.ts';
import { compilePattern } from '../pattern.ts';

/** Finds the first match of a pattern (or null), or all matches. */
export const extractText: Operation<ExtractTextConfig> = {
  description: OPERATIONS.ExtractText,
  isHeavy: () => true,
  compile({ inputPath, pattern, extractAll = false }, compiling) {
    const input = compiling.path(inputPath);
    const compiled = compilePattern(pattern, '/pattern', compiling);
    return (step) => {
      const text = textAt(step, input);
      step.account.patternText(text.length);
      const matcher = compiled?.matcher(text);
      if (!extractAll) return matcher?.find() ? (matcher.group() ?? null) : null;
      const found: Json[] = [];
      while (matcher?.find()) found.push(matcher.group() ?? '');
      return found;
    };
  },
};
