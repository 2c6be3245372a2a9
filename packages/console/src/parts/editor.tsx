import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  pickedCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import type { Offered } from '../workflow-completion.ts';

/** A problem to be marked in the text. */
export interface Finding {
  readonly line: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

interface EditorParts {
  readonly label: string;
  /** The initial text. The editor then has its own text, and reports every change. */
  readonly initial: string;
  readonly change: (text: string) => void;
  readonly findings: readonly Finding[];
  /** The completions at a column of a line, offered while typing. */
  readonly offers: (line: string, column: number, text: string) => Offered | undefined;
}

/** An editor for JSON lines with findings. It is in a shadow root, where its styles need no inline style element. */
export function Editor({ label, initial, change, findings, offers }: EditorParts) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ change, offers });
  latest.current = { change, offers };
  useEffect(() => {
    const host = place.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: initial,
        extensions: [
          lineNumbers(),
          history(),
          json(),
          syntaxHighlighting(COLOURS),
          autocompletion({ override: [(context) => completions(context, latest.current.offers)], icons: false }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.change(update.state.doc.toString());
          }),
          LOOK,
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label]);
  useEffect(() => {
    const now = view.current;
    if (now === undefined) return;
    const marks = findings.map(({ line, severity, message }): Diagnostic => {
      const at = now.state.doc.line(Math.min(Math.max(1, line), now.state.doc.lines));
      // Rendered as text, because the message contains user input.
      return { from: at.from, to: at.to, severity, message };
    });
    now.dispatch(setDiagnostics(now.state, marks));
  }, [findings]);
  return <div class="editor" ref={place} />;
}

function completions({ state, pos }: CompletionContext, offers: EditorParts['offers']): CompletionResult | null {
  const line = state.doc.lineAt(pos);
  const offered = offers(line.text, pos - line.from, state.doc.toString());
  if (offered === undefined) return null;
  const isQuoted = state.sliceDoc(line.from + offered.from, line.from + offered.from + 1) === '"';
  return {
    from: line.from + offered.from + (isQuoted ? 1 : 0),
    // Without `to`, the completions are filtered by the text up to the cursor.
    options: offered.offers.map(({ label, text, detail }) => ({
      label,
      ...(detail !== undefined && { detail }),
      apply: (view, _, from) =>
        view.dispatch({
          ...insertCompletionText(view.state, text, isQuoted ? from - 1 : from, line.from + offered.to),
          annotations: pickedCompletion.of({ label }),
        }),
    })),
  };
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const LOOK = EditorView.theme({
  '&': { fontSize: '13px', color: 'var(--ink)', backgroundColor: 'var(--raised)', minHeight: '14rem' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--dim)', border: 'none' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-completionDetail': { color: 'var(--dim)', fontStyle: 'normal', fontFamily: 'system-ui, sans-serif' },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-selectionBackground': { backgroundColor: 'var(--line) !important' },
});
