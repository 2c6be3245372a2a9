import type { PendingQuestion } from '@dragoman/client';
import { answerFromText } from '@dragoman/protocols';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { table } from '../table.ts';
import { fail } from '../trouble.ts';

export function questionsCommand(context: Context): Command {
  return newCommand(context, {
    name: 'questions',
    summary: 'list and answer the questions that running requests are waiting on',
    examples: [`${PROGRAM} questions list`, `${PROGRAM} questions answer q_0123456789abcdef allow`],
  })
    .addCommand(listCommand(context))
    .addCommand(answerCommand(context));
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'questions list',
    summary:
      'list the open questions of your requests, or of all requests if the agent of your key is permitted the operation questions.answer',
    examples: [`${PROGRAM} questions list`],
  });
  withConnectionOptions(command, 'agent');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'agent');
    const questions = await talking(connection, 'agent', () => connection.client.questions.list());
    const rows = questions.map((question) => [
      question.question_id,
      question.kind,
      question.caller_id,
      question.agent_id,
      question.expires_at,
      question.title,
      answersOf(question).join(', '),
    ]);
    const text = table(['QUESTION', 'KIND', 'CALLER', 'AGENT', 'EXPIRES', 'TITLE', 'ANSWERS'], rows);
    context.terminal.out(options.json ? `${JSON.stringify({ questions })}\n` : text);
    if (questions.length === 0 && !options.json) context.terminal.note('none: no question is open\n');
    return 0;
  });
}

function answerCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'questions answer',
    summary: 'answer a question; the first answer counts',
    examples: [
      `${PROGRAM} questions answer q_0123456789abcdef allow`,
      `${PROGRAM} questions answer q_0123456789abcdef '{"name": "Ada"}'`,
      `${PROGRAM} questions answer q_0123456789abcdef decline`,
    ],
  })
    .argument('<question_id>', 'as shown by `questions list`')
    .argument(
      '<answer...>',
      'for choices: the id, name or number of one; for a form: its fields as a JSON object; for other questions: accept. decline refuses any',
    );
  withConnectionOptions(command, 'agent');
  return runs<ConnectionOptions>(command, context, async (options, [questionId = '', text = '']) => {
    const connection = await connect(options, context, 'agent');
    const { questions } = connection.client;
    const answer = await talking(connection, 'agent', async () => {
      const question = (await questions.list()).find(({ question_id }) => question_id === questionId);
      if (question === undefined) fail(noQuestion(questionId));
      const given = answerFromText(question, text);
      if (given === undefined) fail(noAnswer(question, text));
      return questions.answer(question, given);
    });
    const chosen = answer.option_id ?? answer.action;
    context.terminal.out(
      options.json ? `${JSON.stringify({ question_id: questionId, answer })}\n` : `answered ${questionId}: ${chosen}\n`,
    );
    return 0;
  });
}

function noQuestion(id: string) {
  return {
    code: 'not_found',
    message: `there is no open question ${JSON.stringify(id)}`,
    fixes: [`see those that are open: ${PROGRAM} questions list`],
  };
}

function noAnswer(question: PendingQuestion, text: string) {
  const message = `${JSON.stringify(text)} is not an answer to "${question.title}"`;
  return {
    code: 'usage',
    message,
    fixes: [`answer with one of: ${answersOf(question).join(', ')}`],
    exitCode: 2,
  } as const;
}

function answersOf({ options, schema }: PendingQuestion): readonly string[] {
  if (options !== undefined) return options.map(({ id }) => id);
  return [schema === undefined ? 'accept' : JSON.stringify(Object.keys(schema.properties)), 'decline'];
}
