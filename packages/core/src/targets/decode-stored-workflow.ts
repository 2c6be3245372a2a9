import { accept, type Issue, issuesOf, type Json, type Outcome, reject, show } from '@dragoman/protocols';
import { StoredWorkflowDefinition as validate } from '../generated/targets.js';
import { StoredWorkflowDefinition } from './stored-workflow-definition.ts';
import { isWorkflowName, type StoredDefinition } from './stored-workflows.ts';

/** A stored workflow as administration sends it, or every problem. */
export function decodeStoredWorkflow(name: string, json: Json): Outcome<StoredDefinition> {
  const issues = [...nameIssues(name), ...issuesOf(validate, StoredWorkflowDefinition, json)];
  if (issues.length > 0) return reject(...issues);
  const { workflow, description = '' } = json as { workflow: string | readonly Json[]; description?: string };
  const text = typeof workflow === 'string' ? workflow : workflow.map((line) => JSON.stringify(line)).join('\n');
  return accept({ name, description, text });
}

function nameIssues(name: string): Issue[] {
  if (isWorkflowName(name)) return [];
  const message = `a stored workflow's name must be 1 to 128 letters, digits, ".", "_" and "-", and not start with "workflow."; got ${show(name)}`;
  return [{ pointer: '', code: 'name', message, suggestion: 'choose another name' }];
}
