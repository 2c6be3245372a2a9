import { type E2AResponse, isObject, type Json, textOfResult } from '@dragoman/protocols';
import { Json as JsonView } from './json.tsx';
import { Markdown } from './markdown.tsx';
import { Text } from './text.tsx';

/** An answer so far, sorted by the kinds of its frames. */
export interface FoldedAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly tools: readonly Json[];
  /** The result of the final frame, if it has more than the text. */
  readonly result: Json | undefined;
  readonly failure: { readonly code: string; readonly message: string } | undefined;
}

export function foldFrames(frames: readonly E2AResponse[]): FoldedAnswer {
  let text = '';
  let reasoning = '';
  const tools: Json[] = [];
  let result: Json | undefined;
  let failure: FoldedAnswer['failure'];
  for (const { response_kind: kind, body, is_final: isFinal, status } of frames) {
    const { delta, delta_kind: of } = body;
    if (kind === 'e2a.chunk' && of === 'tool') tools.push(delta ?? null);
    else if (kind === 'e2a.chunk' && typeof delta === 'string') {
      if (of === 'reasoning') reasoning += delta;
      else if (of === 'text') text += delta;
    }
    if (!isFinal) continue;
    if (status === 'failed')
      failure = { code: String(body['code'] ?? ''), message: String(body['message'] ?? 'It failed.') };
    else result = kind === 'e2a.complete' ? body['result'] : body;
  }
  if (text === '' && result !== undefined) {
    const answerText = textOfResult(result);
    if (answerText !== undefined) return { text: answerText, reasoning, tools, result: undefined, failure };
  }
  const hasMore = isObject(result) && Object.keys(result).length > 0;
  return { text, reasoning, tools, result: hasMore ? result : undefined, failure };
}

export function AnswerView({ answer: { text, reasoning, tools, result, failure } }: { readonly answer: FoldedAnswer }) {
  return (
    <>
      {reasoning !== '' && (
        <details>
          <summary class="dim">Reasoning</summary>
          <div class="reasoning">
            <Text value={reasoning} />
          </div>
        </details>
      )}
      {tools.length > 0 && (
        <details>
          <summary class="dim">
            {tools.length} tool {tools.length === 1 ? 'event' : 'events'}: <Text value={toolNames(tools)} />
          </summary>
          <JsonView value={tools} label="Tool events" />
        </details>
      )}
      <Markdown text={text} />
      {failure !== undefined && (
        <div class="problem">
          <strong>
            <Text value={failure.code} />
          </strong>
          <p>
            <Text value={failure.message} />
          </p>
        </div>
      )}
      {result !== undefined && (
        <details>
          <summary class="dim">Result</summary>
          <JsonView value={result} label="Result" />
        </details>
      )}
    </>
  );
}

function toolNames(tools: readonly Json[]): string {
  const names = tools.map((one) => (isObject(one) ? String(one['tool'] ?? one['name'] ?? '?') : '?'));
  return [...new Set(names)].join(', ');
}
