import type { Answer } from '@dragoman/client';
import type { E2AResponse } from '@dragoman/protocols';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface FrameStream {
  readonly frames: readonly E2AResponse[];
  readonly isOver: boolean;
  readonly error: unknown;
  /** How many times a lost connection was replaced. */
  readonly reconnects: number;
}

/**
 * The frames of an answer as they arrive. Every frame is kept, and the display changes at most once per repaint. When
 * the user leaves the page, only the reading stops, not the work.
 */
export function useFrames(
  open: ((onReconnect: () => void, signal: AbortSignal) => Answer) | undefined,
  dependencies: readonly unknown[],
): FrameStream {
  const [stream, setStream] = useState<FrameStream>(NOTHING);
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    setStream(NOTHING);
    const over = new AbortController();
    const frames: E2AResponse[] = [];
    let reconnects = 0;
    let repaint: number | undefined;
    const show = (end: Partial<FrameStream> = {}) => {
      if (!over.signal.aborted) setStream({ frames: [...frames], isOver: false, error: undefined, reconnects, ...end });
    };
    const read = async () => {
      const answer = latest.current?.(() => {
        reconnects++;
        show();
      }, over.signal);
      if (answer === undefined) return;
      try {
        for await (const frame of answer) {
          frames.push(frame);
          repaint ??= requestAnimationFrame(() => {
            repaint = undefined;
            show();
          });
        }
        finish({ isOver: true });
      } catch (error) {
        finish({ isOver: true, error });
      }
    };
    const finish = (end: Partial<FrameStream>) => {
      if (repaint !== undefined) cancelAnimationFrame(repaint);
      show(end);
    };
    void read();
    return () => over.abort();
  }, dependencies);
  return stream;
}

/** The state of an answer, in one word. */
export function stateOfStream({ frames, isOver, error }: FrameStream): string {
  if (!isOver) return 'running';
  return error !== undefined || frames.at(-1)?.status === 'failed' ? 'failed' : 'succeeded';
}

const NOTHING: FrameStream = { frames: [], isOver: false, error: undefined, reconnects: 0 };
