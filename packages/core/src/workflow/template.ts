import type { Json } from '@dragoman/protocols';
import { hasTemplate, parseTemplate } from '@dragoman/protocols/a2e-workflow';
import type { StepContext } from './operation.ts';

/** A text that is filled when a step runs. */
export type Filling = (step: StepContext) => string;

/** A text with `{/path}`. Inserted values are data and never parsed as templates. */
export function compileTemplate(text: string): Filling {
  if (!hasTemplate(text)) return () => text;
  const parts = parseTemplate(text).parts.map((part): Filling => {
    if (part.is === 'path') return (step) => asText(step.read(part.path));
    const fixed = part.is === 'text' ? part.text : `{${part.name}}`;
    return () => fixed;
  });
  return (step) => {
    let bytes = 0;
    const texts = parts.map((part) => {
      const filled = part(step);
      bytes += filled.length;
      step.account.reserve(bytes);
      return filled;
    });
    return texts.join('');
  };
}

/** A text unchanged, everything else as JSON. */
export function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
