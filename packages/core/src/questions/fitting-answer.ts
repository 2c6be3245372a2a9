import {
  answerFromText,
  answerHelp,
  CHOICE,
  type GivenAnswer,
  issuesOf,
  type JsonObject,
  type JsonSchema,
  nearest,
  type Question,
  type QuestionAnswer,
  show,
} from '@dragoman/protocols';
import { refuse } from '../refusals/refused.ts';
import { compileSchema } from '../schema/compile-schema.ts';

type Checked = Pick<QuestionAnswer, 'action' | 'option_id' | 'content'>;

/** The answer, if it fits the question. Throws `Refused` with the expected form. */
export function fittingAnswer(question: Question, given: GivenAnswer): Checked {
  if (given.text !== undefined) return fittingAnswer(question, resolvedAnswer(given, question));
  const { options = [], schema } = question;
  const { content } = given;
  if (given.action === 'decline' || given.action === 'cancel') return { action: given.action };
  if (options.length > 0) {
    const chosen = given.option_id ?? content?.[CHOICE];
    return {
      action: 'selected',
      option_id: known(
        chosen,
        options.map(({ id }) => id),
      ),
    };
  }
  if (given.option_id !== undefined) wrong('option_id', 'has no options: send content, or action accept or decline');
  if (schema === undefined) {
    if (given.action !== 'accept') wrong('action', 'needs action accept or decline');
    return { action: 'accept' };
  }
  return { action: 'accept', content: fittingContent(content ?? {}, schema) };
}

function resolvedAnswer({ text = '', ...others }: GivenAnswer, question: Question): GivenAnswer {
  if (Object.keys(others).length > 0) wrong('text', 'takes text in place of option_id, content and action');
  const meant = answerFromText(question, text);
  if (meant !== undefined) return meant;
  const message = `${JSON.stringify(text.slice(0, 100))} does not answer the question. ${answerHelp(question)}`;
  refuse('invalid_message', { issues: [{ pointer: '/text', code: 'answer', message }] }, message);
}

function known(id: unknown, ids: readonly string[]): string {
  if (typeof id === 'string' && ids.includes(id)) return id;
  const close = typeof id === 'string' ? nearest(id, ids) : undefined;
  const message = `option_id must be one of ${ids.join(', ')}; got ${show(id)}`;
  const issue = { pointer: '/option_id', code: 'enum', message };
  refuse(
    'invalid_message',
    { issues: [close === undefined ? issue : { ...issue, suggestion: `did you mean ${close}?` }] },
    message,
  );
}

function fittingContent(content: JsonObject, schema: JsonSchema): JsonObject {
  const issues = issuesOf(compileSchema(schema).all, schema, content);
  if (issues.length === 0) return content;
  const below = issues.map((issue) => ({ ...issue, pointer: `/content${issue.pointer}` }));
  refuse('invalid_message', { issues: below }, `content: ${issues[0]?.message}`);
}

function wrong(field: string, fault: string): never {
  const message = `The question ${fault}.`;
  refuse('invalid_message', { issues: [{ pointer: `/${field}`, code: 'answer', message }] }, message);
}
