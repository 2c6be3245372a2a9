import type { NewQuestion, QuestionAnswer } from '@dragoman/protocols';
import { failure } from '@dragoman/protocols';
import { type AskApprovalConfig, expiryMs, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { Refused } from '../../refusals/refused.ts';
import type { Operation } from '../operation.ts';
import { dataError } from '../step-error.ts';
import { compileTemplate } from '../template.ts';

/**
 * Asks a person; the result is the answer. Choosing a rejecting option, declining, and not answering in time are
 * errors, so that later operations do not run by accident. A workflow that continues either way uses options of kind
 * `choice`.
 */
export const askApproval: Operation<AskApprovalConfig> = {
  description: OPERATIONS.AskApproval,
  hasEffect: () => true,
  compile({ title, description, options, schema, expires = '1d' }) {
    const [titleText, descriptionText] = [compileTemplate(title), compileTemplate(description ?? '')];
    const choices = options?.map((option) => ({ kind: 'choice' as const, ...option }));
    const rejecting = new Set(
      choices?.filter(({ kind }) => kind.startsWith('reject')).map(({ id }) => id) ?? ['reject'],
    );
    const kind = schema !== undefined ? 'form' : choices === undefined || rejecting.size > 0 ? 'permission' : 'choice';
    return async (step) => {
      const question: NewQuestion = {
        kind,
        title: within(titleText(step), 'title', 1000),
        ...(description !== undefined && { description: within(descriptionText(step), 'description', 16_384) }),
        ...(choices !== undefined && { options: choices }),
        ...(schema !== undefined && { schema }),
        expires_in_ms: expiryMs(expires),
      };
      const answer = await step.approve(question);
      const isRejected =
        answer.action === 'selected' ? rejecting.has(answer.option_id ?? '') : answer.action !== 'accept';
      if (isRejected || answer.channel === 'expiry') throw rejected(question.title, answer);
      return { ...answer };
    };
  },
};

function rejected(title: string, { channel, by, option_id, action }: QuestionAnswer): Refused {
  const quoted = JSON.stringify(title);
  if (channel === 'expiry') {
    return new Refused(
      failure('forbidden', { reason: 'expired' }, `${quoted} was not answered in time, so it counts as rejected.`),
    );
  }
  const message = `${quoted} was rejected by ${by ?? 'the server'} (${option_id ?? action}).`;
  return new Refused(failure('forbidden', { reason: 'rejected' }, message));
}

function within(text: string, name: string, most: number): string {
  if (text.length <= most) return text;
  throw dataError(`${name} has ${text.length} characters with its data filled in; at most ${most} are shown`, {
    suggestions: ['name fewer fields, or shorten the data with FormatText'],
  });
}
