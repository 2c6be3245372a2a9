import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import {
  BUILT_IN,
  DEFAULT_WORKFLOW_LIMITS,
  ToolWorkflow,
  WorkflowRequestReader,
  type WorkflowRules,
} from '@dragoman/core';
import type { Config } from '@dragoman/server';
import { broken, type DoctorFinding, sound } from './finding.ts';
import { syntaxFault } from './syntax-fault.ts';

/** Checks that the files of tools exist and can be read, and that the workflows of tools are valid. */
export function checkTools({ tools = [], workflows = {} }: Pick<Config, 'tools' | 'workflows'>): DoctorFinding[] {
  const { operations, ...limits } = workflows;
  const rules: WorkflowRules = {
    reader: new WorkflowRequestReader(),
    limits: { ...DEFAULT_WORKFLOW_LIMITS, ...limits },
    catalog: BUILT_IN,
  };
  return tools.flatMap((entry) => {
    if (typeof entry === 'string') return checkFile(entry);
    const { name, workflow } = entry;
    if (workflow === undefined) return [];
    const check = `tool ${name}`;
    if (!existsSync(workflow)) return broken(check, `file not found: ${workflow}`, 'create the file, or correct tools');
    // With operations of the operator, a workflow cannot be checked: their schemas are known only after running their
    // files.
    const written = operations === undefined ? ToolWorkflow.in(workflow, rules) : undefined;
    const isSound = written === undefined || written instanceof ToolWorkflow;
    return isSound ? sound(check, 'found') : broken(check, written.fault, 'correct it');
  });
}

function checkFile(path: string): DoctorFinding {
  const check = `tools ${basename(path)}`;
  if (!existsSync(path)) return broken(check, `file not found: ${path}`, 'create the file, or correct tools');
  const fault = syntaxFault(path);
  return fault === undefined ? sound(check, 'found') : broken(check, fault, 'correct it');
}
