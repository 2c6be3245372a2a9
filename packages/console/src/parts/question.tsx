import type { GivenAnswer, Question } from '@dragoman/protocols';
import { useState } from 'preact/hooks';
import { Code, Json } from './json.tsx';
import { Problem } from './problem.tsx';
import { SchemaForm } from './schema-form.tsx';
import { Text } from './text.tsx';
import { When } from './when.tsx';

interface QuestionParts {
  readonly question: Question;
  readonly answer: (answer: GivenAnswer) => Promise<unknown>;
}

/** A question that a running request waits for, with a button for each answer. */
export function QuestionCard({ question, answer }: QuestionParts) {
  const { title, description, subject, options = [], schema, url, expires_at: expires } = question;
  const [given, setGiven] = useState(false);
  const [trouble, setTrouble] = useState<unknown>();
  const give = async (one: GivenAnswer) => {
    setGiven(true);
    setTrouble(undefined);
    try {
      await answer(one);
    } catch (error) {
      setTrouble(error);
      setGiven(false);
    }
  };
  return (
    <div class="notice">
      <strong>
        <Text value={title} />
      </strong>
      {description !== undefined && (
        <p>
          <Text value={description} />
        </p>
      )}
      {subject?.command !== undefined && <Code text={subject.command} label="The command" />}
      {subject?.text !== undefined && <Code text={subject.text} label="The plan" />}
      {subject?.input !== undefined && <Json value={subject.input} label="The arguments" />}
      {url !== undefined && (
        <p>
          Visit{' '}
          <code>
            <Text value={url} />
          </code>{' '}
          and accept when it is done.
        </p>
      )}
      {schema !== undefined && (
        <SchemaForm schema={schema} action="Answer" submit={(content) => void give({ content })} />
      )}
      <p class="bar">
        {options.map(({ id, name, kind }) => (
          <button
            type="button"
            key={id}
            class={kind.startsWith('reject') ? 'danger' : ''}
            disabled={given}
            onClick={() => void give({ option_id: id })}
          >
            <Text value={name} />
          </button>
        ))}
        {options.length === 0 && schema === undefined && (
          <button type="button" class="primary" disabled={given} onClick={() => void give({ action: 'accept' })}>
            Accept
          </button>
        )}
        {options.length === 0 && (
          <button type="button" disabled={given} onClick={() => void give({ action: 'decline' })}>
            Decline
          </button>
        )}
        <span class="dim">
          expires <When at={expires} />
        </span>
      </p>
      <Problem error={trouble} />
    </div>
  );
}
