import type { Change, Explanation } from '@dragoman/protocols';
import { Code, Copy, Json } from './json.tsx';
import { Text } from './text.tsx';

/** The received message, its envelope, its permissions, and the answer in each protocol. */
export function Xray({ explanation }: { readonly explanation: Explanation }) {
  const { received, envelope, allowed, way_in: wayIn, answers, outcome, callbacks } = explanation;
  const projected = answers.filter(({ projections }) => projections.length > 0);
  return (
    <section aria-label="X-ray">
      <div class="columns">
        <section class="panel">
          <div class="bar">
            <h2>The received message</h2>
            <span class="dim">
              <Text value={received.dialect} />, {received.bytes.toLocaleString()} bytes
            </span>
          </div>
          {received.text === null ? (
            <p class="dim">
              <Text value={received.note ?? 'It is not kept.'} />
            </p>
          ) : (
            <Code text={pretty(received.text)} label="The message as it was received" />
          )}
        </section>
        <section class="panel">
          <div class="bar">
            <h2>The envelope</h2>
            {envelope !== null && <Copy label="Copy as curl" text={curlOf(envelope)} />}
          </div>
          {envelope === null ? (
            <p class="dim">Answered without one.</p>
          ) : (
            <Json value={envelope} label="The envelope" />
          )}
        </section>
        <section class="panel">
          <h2>Permissions</h2>
          {allowed.length === 0 && <p class="dim">No permission was required.</p>}
          <ul>
            {allowed.map(({ who, known_by: knownBy, what, rule }) => (
              <li key={`${what} ${rule}`}>
                <Text value={`${who} (${knownBy}): ${what}`} />
                <div class="dim">
                  <Text value={rule} />
                </div>
              </li>
            ))}
          </ul>
          <h3>On the way in</h3>
          <Changes title="Dropped" list={wayIn.dropped} />
          <Changes title="Changed" list={wayIn.changed} />
          <Changes title="Added" list={wayIn.invented} />
          {wayIn.dropped.length + wayIn.changed.length + wayIn.invented.length === 0 && (
            <p class="good">Nothing was lost.</p>
          )}
        </section>
        {projected.length > 0 && (
          <section class="panel">
            <h2>The answer in other protocols</h2>
            {projected.map(({ sequence, projections }) =>
              projections.map(({ dialect, message, dropped, invented }) => (
                <details key={`${sequence} ${dialect}`}>
                  <summary>
                    Frame {sequence} as <Text value={dialect} />
                  </summary>
                  <Json value={message} label={`Frame ${sequence} as ${dialect}`} />
                  <Changes title="Dropped" list={dropped} />
                  <Changes title="Added" list={invented} />
                </details>
              )),
            )}
          </section>
        )}
        {outcome !== null && (
          <section class="panel">
            <h2>Outcome</h2>
            <Json value={outcome} label="Outcome" />
          </section>
        )}
        {callbacks.length > 0 && (
          <section class="panel">
            <h2>Callbacks</h2>
            <Json value={callbacks} label="Callbacks" />
          </section>
        )}
      </div>
    </section>
  );
}

function Changes({ title, list }: { readonly title: string; readonly list: readonly Change[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <strong>{title}</strong>
      <ul>
        {list.map(({ pointer, why }) => (
          <li key={pointer}>
            <code>
              <Text value={pointer || '/'} />
            </code>{' '}
            <Text value={why} />
          </li>
        ))}
      </ul>
    </>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function curlOf(envelope: unknown): string {
  const body = JSON.stringify(envelope).replaceAll("'", "'\\''");
  return `curl -N '${location.origin}/e2a' -H "Authorization: Bearer $DRAGOMAN_KEY" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' -d '${body}'`;
}
