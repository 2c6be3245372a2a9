import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';

/** Something to mark in the text. */
export interface Finding {
  readonly line: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

interface EditorParts {
  readonly label: string;
  /** What it begins with. From then on the editor has the text, and reports every change. */
  readonly initial: string;
  readonly change: (text: string) => void;
  readonly findings: readonly Finding[];
  /** What may be written, offered while somebody types. */
  readonly words: readonly string[];
}

/** JSON lines, with findings at their line. In a shadow root: there its styles need no inline style element. */
export function Editor({ label, initial, change, findings, words }: EditorParts) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ change, words });
  latest.current = { change, words };
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
          autocompletion({ override: [(context) => offered(context, latest.current.words)] }),
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
      // Said as text: the message holds what somebody wrote.
      return { from: at.from, to: at.to, severity, message };
    });
    now.dispatch(setDiagnostics(now.state, marks));
  }, [findings]);
  return <div class="editor" ref={place} />;
}

function offered(context: CompletionContext, words: readonly string[]): CompletionResult | null {
  const word = context.matchBefore(/"?[\w-]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const from = word.text.startsWith('"') ? word.from + 1 : word.from;
  return { from, options: words.map((label) => ({ label })) };
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
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-selectionBackground': { backgroundColor: 'var(--line) !important' },
});
