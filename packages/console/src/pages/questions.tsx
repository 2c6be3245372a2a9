import { useLive } from '../live.ts';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { QuestionCard } from '../parts/question.tsx';
import { Text } from '../parts/text.tsx';
import { pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** What running requests wait for somebody to answer. */
export default function QuestionsPage() {
  const room = asAdmin.value?.admin.questions ?? asAgent.value?.questions;
  const { data, error, reload } = useLive(async (signal) => room?.list({ signal }), [room], 2000);
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
    </Page>
  );
}
