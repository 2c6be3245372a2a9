import { formatPath, hasTemplate, parseTemplate } from '@dragoman/protocols/a2e-workflow';
import type { StepContext } from './operation.ts';
import { dataError } from './step-error.ts';
import { asText, type Filling } from './template.ts';

/**
 * Compiles a URL with `{/path}` in path segments and query values. Inserted values are percent-encoded and stay inside
 * their segment: data can neither choose the host nor leave the written path.
 */
export function compileUrl(text: string): Filling {
  if (!hasTemplate(text)) return () => text;
  const origin = new URL(text.replaceAll(/\{[^{}]*\}/g, 'x')).origin;
  let inQuery = false;
  const parts = parseTemplate(text).parts.map((part): Filling => {
    if (part.is !== 'path') {
      const fixed = part.is === 'text' ? part.text : `{${part.name}}`;
      inQuery ||= fixed.includes('?');
      return () => fixed;
    }
    const { path } = part;
    const place = formatPath(path);
    const mayBeEmpty = inQuery;
    return (step: StepContext) => {
      const value = step.read(path);
      const filled = value === null ? '' : asText(value);
      if (filled === '' && !mayBeEmpty) {
        throw dataError(`${place} is empty; the URL requires a value there`, {
          suggestions: [`check with a Conditional whether ${place} is empty before`],
        });
      }
      return encodeURIComponent(filled);
    };
  });
  return (step) => {
    const url = parts.map((part) => part(step)).join('');
    const [path = ''] = url.split(/[?#]/);
    // A URL parser reads %2e as a dot, too.
    if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)) || new URL(url).origin !== origin) {
      throw dataError('the inserted value would change the path of the URL', {
        suggestions: ['put the value into query'],
      });
    }
    return url;
  };
}
