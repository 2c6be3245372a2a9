import type { MailboxThreadPage } from '@dragoman/client';
import { useRef, useState } from 'preact/hooks';
import { type Live, useLive } from '../live.ts';
import { Json } from '../parts/json.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { navigate, pageUrl, route, withQuery } from '../router.ts';
import { asAgent } from '../session.ts';

/** Threads of the A2A mailbox as conversations: those the user has started, or those addressed to the user's agent. */
export default function MailboxPage() {
  const client = asAgent.value;
  const [threadId] = route.value.rest;
  const part = route.value.query.get('as') === 'agent' ? 'agent' : 'sender';
  const after = route.value.query.get('after') ?? undefined;
  const { data, error, reload } = useLive(
    async (signal) => client?.mailbox.threads({ as: part, after, signal }),
    [client, part, after],
    10_000,
  );
  if (client === undefined) {
    return (
      <Page title="Mailbox">
        <NeedsKey kind="agent" />
      </Page>
    );
  }
  const newestFirst = [...(data?.threads ?? [])].sort((one, other) => other.lastAt.localeCompare(one.lastAt));
  return (
    <Page
      title="Mailbox"
      actions={
        <label class="check">
          Threads in which I am
          <select value={part} onChange={(event) => navigate(`${pageUrl('mailbox')}?as=${event.currentTarget.value}`)}>
            <option value="sender">the sender</option>
            <option value="agent">the recipient</option>
          </select>
        </label>
      }
    >
      <Problem error={error} retry={reload} />
      {data?.threads.length === 0 && after === undefined ? (
        <Empty title="No threads">
          <p>A mailbox message with metadata.threadId belongs to a thread. Its messages are kept for weeks.</p>
        </Empty>
      ) : (
        <div class="split">
          <nav class="panel" aria-label="Threads">
            <ul class="list">
              {newestFirst.map(({ threadId: id, agent, sender, messages, lastAt }) => (
                <li key={id}>
                  <a href={`${pageUrl('mailbox', id)}?as=${part}`} aria-current={id === threadId ? 'page' : undefined}>
                    <Text value={id} />
                    <small>
                      <Text value={part === 'agent' ? sender : agent} />, {messages} messages, <When at={lastAt} />
                    </small>
                  </a>
                </li>
              ))}
            </ul>
            {data?.next != null && <a href={withQuery({ after: data.next })}>More</a>}
          </nav>
          {threadId !== undefined && <Thread key={threadId} threadId={threadId} />}
        </div>
      )}
    </Page>
  );
}

type ThreadMessage = MailboxThreadPage['messages'][number];

/** One thread from its beginning. Further pages are read on demand, new messages automatically. */
function Thread({ threadId }: { readonly threadId: string }) {
  const client = asAgent.value;
  const [messages, setMessages] = useState<readonly ThreadMessage[]>([]);
  const isWanted = useRef(true);
  const page: Live<MailboxThreadPage | undefined> = useLive(
    async (signal) => {
      const { data } = page;
      // If there is another page, it is read only on demand.
      if (data?.next != null && !isWanted.current) return data;
      const found = await client?.mailbox.thread(threadId, { after: messages.at(-1)?.sequence ?? 0, signal });
      if (signal.aborted) return undefined;
      isWanted.current = false;
      if (found !== undefined && found.messages.length > 0) setMessages([...messages, ...found.messages]);
      return found;
    },
    [client, threadId],
    5000,
  );
  return (
    <section class="talk" role="log" tabIndex={0} aria-label={`Thread ${threadId}`}>
      <Problem error={page.error} />
      {messages.map((message) => (
        <Message key={message.sequence} message={message} />
      ))}
      {page.data?.next != null && (
        <button
          type="button"
          onClick={() => {
            isWanted.current = true;
            page.reload();
          }}
        >
          Show later messages
        </button>
      )}
    </section>
  );
}

function Message({ message }: { readonly message: ThreadMessage }) {
  const isAnswer = 'replyTo' in message;
  const { content } = message.message;
  const { timestamp } = message.metadata;
  return (
    <div class={isAnswer ? 'turn' : 'turn mine'}>
      {typeof content === 'string' ? <Markdown text={content} /> : <Json value={content} label="Content" />}
      <footer>
        <Text value={message.from.name} />
        {typeof timestamp === 'string' && <When at={timestamp} />}
        {isAnswer && message.replyTo !== null && <a href={pageUrl('requests', message.replyTo)}>the request</a>}
      </footer>
    </div>
  );
}
