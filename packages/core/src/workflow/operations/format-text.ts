import { isObject, type Json, nearest } from '@dragoman/protocols';
import { type FormatTextConfig, OPERATIONS, parseTemplate } from '@dragoman/protocols/a2e-workflow';
import { fieldReader } from '../field.ts';
import { textAt } from '../input.ts';
import type { Compiling, Operation, StepContext, Work } from '../operation.ts';
import { dataError, type StepError } from '../step-error.ts';
import { asText } from '../template.ts';

/** Fills a template, changes the case of a text, trims it, or replaces words in it. */
export const formatText: Operation<FormatTextConfig> = {
  description: OPERATIONS.FormatText,
  isHeavy: ({ format }) => format === 'replace',
  compile(config, compiling) {
    const input = compiling.path(config.inputPath);
    if (config.format === 'template') return compileFilling(config, compiling);
    if (config.format === 'replace') {
      const replace = compileReplacing(Object.entries(config.replacements ?? {}));
      return (step) => replace(textAt(step, input), step);
    }
    const change = Object.hasOwn(CHANGES, config.format) ? CHANGES[config.format] : undefined;
    if (change === undefined) compiling.problem('/format', `format ${JSON.stringify(config.format)} is unknown`);
    return (step) => change?.(textAt(step, input)) ?? null;
  },
};

const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  title: (text) => text.replaceAll(/\p{L}[\p{L}\p{M}\p{N}'’]*/gu, capitalized),
  capitalize: capitalized,
  trim: (text) => text.trim(),
};

function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** `{field}` is a field of the input, `{value}` the input itself, `{/path}` any other place. */
function compileFilling({ inputPath, template = '' }: FormatTextConfig, compiling: Compiling): Work {
  const input = compiling.path(inputPath);
  const parts = parseTemplate(template, { fields: true }).parts.map((part) => {
    if (part.is === 'text') return () => part.text;
    if (part.is === 'path') return (_: Json, step: StepContext) => asText(step.read(part.path));
    const read = fieldReader(part.name);
    return (value: Json) => {
      const field = read(value) ?? (part.name === 'value' ? value : undefined);
      if (field === undefined) throw noField(part.name, value);
      return asText(field);
    };
  });
  return (step) => {
    const value = step.read(input);
    let bytes = 0;
    const texts = parts.map((part) => {
      const text = part(value, step);
      bytes += text.length;
      step.account.reserve(bytes);
      return text;
    });
    return texts.join('');
  };
}

function noField(name: string, value: Json): StepError {
  const names = isObject(value) ? Object.keys(value) : [];
  const close = nearest(name, names);
  const has =
    names.length === 0
      ? 'the input has no fields; {value} inserts all of it'
      : `it has ${names.slice(0, 6).join(', ')}`;
  return dataError(`the template uses {${name}}, which the input does not have`, {
    suggestions: [close === undefined ? has : `did you mean {${close}}?`],
  });
}

/** Replaces all words in one pass, so that a replacement is not replaced again. The longest matching word wins. */
function compileReplacing(replacements: readonly (readonly [string, string])[]) {
  const words = replacements.filter(([word]) => word !== '').sort(([one], [other]) => other.length - one.length);
  const byWord = new Map(words);
  const growth = Math.max(1, ...words.map(([word, other]) => other.length / word.length));
  const pattern = new RegExp(words.map(([word]) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  return (text: string, step: StepContext): string => {
    if (words.length === 0) return text;
    step.account.reserve(text.length * growth);
    return text.replaceAll(pattern, (word) => byWord.get(word) ?? word);
  };
}
