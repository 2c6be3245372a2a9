import { show } from '@dragoman/protocols';
import { loadModule } from '../modules/load-module.ts';
import { BUILT_IN, type Catalog } from './catalog.ts';
import type { Operation } from './operation.ts';

/** The operations of a server, and the files that a thread must load to have the same. */
export interface LoadedOperations {
  readonly catalog: Catalog;
  readonly modules: readonly string[];
}

/** The built-in operations and those of the operator's files, each of which exports `operations`. */
export async function loadOperations(files: readonly string[]): Promise<LoadedOperations> {
  let catalog = BUILT_IN;
  for (const file of files) {
    const own = await operationsIn(file);
    try {
      catalog = catalog.with(own);
    } catch (error) {
      throw fault(file, error instanceof Error ? error.message : String(error));
    }
  }
  return { catalog, modules: files };
}

async function operationsIn(file: string): Promise<Readonly<Record<string, Operation>>> {
  const module = await loadModule('operations', file);
  const { operations } = module as { readonly operations?: Readonly<Record<string, Operation>> };
  if (typeof operations !== 'object' || operations === null) {
    const names = Object.keys(module).join(', ') || 'nothing';
    throw fault(file, `it exports no operations (got ${names}). Write: export const operations = { CountItems }`);
  }
  const { compileSchema } = await import('../schema/compile-schema.ts');
  const checked = Object.entries(operations).map(([name, operation]): [string, Operation] => {
    const problem = problemOf(name, operation);
    if (problem !== undefined) throw fault(file, problem);
    const { description } = operation;
    // The published schema decides, even if the module has its own validator.
    return [name, { ...operation, description: { ...description, validate: compileSchema(description.schema).all } }];
  });
  return Object.fromEntries(checked);
}

function problemOf(name: string, { description, compile }: Partial<Operation>): string | undefined {
  if (!/^[A-Z][A-Za-z0-9]{0,63}$/.test(name))
    return `the name ${show(name)} must be letters and digits after a capital`;
  if (typeof compile !== 'function') return `${name}.compile must be a function of the configuration`;
  if (typeof description?.schema !== 'object' || !Array.isArray(description.members))
    return `${name}.description must have summary, category, schema and members`;
  return undefined;
}

function fault(file: string, problem: string): Error {
  return new Error(`operations ${file}: ${problem}`);
}
