import type { PastQuestion } from '@dragoman/client';
import { useLive } from '../live.ts';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { QuestionCard } from '../parts/question.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** The open questions of running requests. */
export default function QuestionsPage() {
  const room = asAdmin.value?.admin.questions ?? asAgent.value?.questions;
  const { data, error, reload } = useLive(async (signal) => room?.list({ signal }), [room], 2000);
  const past = useLive(async (signal) => room?.ended({ signal }), [room, data?.length], 10_000);
  return (
    <Page title="Questions" actions={data && <span class="dim">{data.length} open</span>}>
      <Problem error={error} retry={reload} />
      {data?.length === 0 && (
        <Empty title="No open questions">
          <p>
            An agent that needs consent, a choice or a form in the middle of a request asks here. The request waits.
          </p>
        </Empty>
      )}
      {data?.map((question) => (
        <section class="panel" key={question.question_id} aria-label={question.title}>
          <p class="dim">
            <Text value={question.agent_id} /> asks <Text value={question.caller_id} />,{' '}
            <a href={`${pageUrl('requests', question.request_id)}?owner=${encodeURIComponent(question.caller_id)}`}>
              the request
            </a>
          </p>
          <QuestionCard
            question={question}
            answer={async (answer) => {
              await room?.answer(question, answer);
              reload();
            }}
          />
        </section>
      ))}
      <Problem error={past.error} />
      {past.data !== undefined && past.data.length > 0 && <History list={past.data} />}
    </Page>
  );
}

/** Recently closed questions, with their answers. */
function History({ list }: { readonly list: readonly PastQuestion[] }) {
  return (
    <section class="panel" aria-label="History">
      <h2>History</h2>
      <Table head={['Outcome', 'Question', 'Answer', 'By', 'Through', 'Asked by', 'Caller', 'When']}>
        {list.map((one) => (
          <tr key={one.question_id}>
            <td>
              <State state={one.state} />
            </td>
            <td>
              <a href={`${pageUrl('requests', one.request_id)}?owner=${encodeURIComponent(one.caller_id)}`}>
                <Text value={one.title} />
              </a>
            </td>
            <td class="cut">
              <Text value={answerOf(one)} />
            </td>
            <td>
              <Text value={one.answer?.by ?? ''} />
            </td>
            <td>
              <Text value={one.answer?.channel ?? ''} />
            </td>
            <td>
              <Text value={one.agent_id} />
            </td>
            <td>
              <Text value={one.caller_id} />
            </td>
            <td class="tight">
              <When at={one.answer?.at ?? one.asked_at} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** The answer as text: the name of an option, the values of a form, or the action. */
function answerOf({ answer, options = [] }: PastQuestion): string {
  if (answer === undefined) return '';
  if (answer.content !== undefined) return JSON.stringify(answer.content);
  return options.find(({ id }) => id === answer.option_id)?.name ?? answer.action;
}
