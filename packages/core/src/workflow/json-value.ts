import { isObject, type Json } from '@dragoman/protocols';
import { hasTemplate, isPathReference } from '@dragoman/protocols/a2e-workflow';
import type { Compiling, StepContext } from './operation.ts';
import { compileTemplate } from './template.ts';

/** JSON with `{"path": …}` and templates filled in at every depth. */
export function compileJson(value: Json, compiling: Compiling): (step: StepContext) => Json {
  if (typeof value === 'string') return hasTemplate(value) ? compileTemplate(value) : () => value;
  if (typeof value !== 'object' || value === null) return () => value;
  if (isPathReference(value)) {
    const path = compiling.path(value.path);
    return (step) => step.read(path);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => compileJson(item, compiling));
    return (step) => items.map((fill) => fill(step));
  }
  const members = Object.entries(value).map(([name, item]) => [name, compileJson(item, compiling)] as const);
  return (step) => Object.fromEntries(members.map(([name, fill]) => [name, fill(step)]));
}

/** Like `compileJson`, for a value that must be an object. */
export function compileObject(
  value: Json | undefined,
  compiling: Compiling,
): (step: StepContext) => Record<string, Json> {
  const fill = compileJson(value ?? {}, compiling);
  return (step) => {
    const filled = fill(step);
    return isObject(filled) ? filled : {};
  };
}
