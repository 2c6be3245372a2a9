import type { E2AResponse } from '@dragoman/protocols';
import { useState } from 'preact/hooks';
import { Json } from './json.tsx';
import { Text } from './text.tsx';

/** The frames of an answer in order. Of a long answer, only the latest are shown at first. */
export function Frames({ frames }: { readonly frames: readonly E2AResponse[] }) {
  const [shown, setShown] = useState(STEP);
  const from = Math.max(0, frames.length - shown);
  return (
    <>
      {from > 0 && (
        <p>
          <button type="button" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, from)} earlier frames of {from.toLocaleString()}
          </button>
        </p>
      )}
      <ol class="frames">
        {frames.slice(from).map((frame) => (
          <FrameRow key={frame.sequence} frame={frame} />
        ))}
      </ol>
    </>
  );
}

function FrameRow({ frame }: { readonly frame: E2AResponse }) {
  const [isOpen, setOpen] = useState(false);
  const { sequence, response_kind: kind, is_final: isFinal, status, body } = frame;
  const look = status === 'failed' ? 'failed' : isFinal ? 'final' : '';
  const delta = body['delta'];
  const content =
    kind === 'e2a.chunk' && typeof delta === 'string' ? delta : JSON.stringify(kind === 'e2a.chunk' ? delta : body);
  return (
    <li class={look}>
      <button
        type="button"
        class="quiet small"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        title="The whole frame"
      >
        {sequence}
      </button>
      <span class="dim">
        <Text value={typeof body['delta_kind'] === 'string' ? body['delta_kind'] : kind.replace('e2a.', '')} />
      </span>
      <div>
        <span class="content">
          <Text value={(content ?? '').slice(0, 2000)} />
        </span>
        {isOpen && <Json value={frame} label={`Frame ${sequence}`} />}
      </div>
    </li>
  );
}

const STEP = 200;
