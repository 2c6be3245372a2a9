import { accept, type Json, type Outcome, reject } from '@dragoman/protocols';
import { yamlIssues } from './yaml-issues.ts';
import { yamlLibrary } from './yaml-library.ts';

/** The value in a YAML or JSON text, or every problem with its place. */
export function parseYaml(text: string): Outcome<Json> {
  const { LineCounter, parseDocument } = yamlLibrary();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  if (document.errors.length === 0) return accept(document.toJS({ maxAliasCount: 100 }) as Json);
  return reject(...yamlIssues(document, lines));
}
