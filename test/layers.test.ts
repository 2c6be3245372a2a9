import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Which folder may import which: docs/architecture.md has the same in prose. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  protocols: [],
  core: ['protocols'],
  server: ['protocols', 'core'],
  client: ['protocols'],
  console: ['protocols', 'client'],
  cli: ['protocols', 'core', 'server', 'client'],
  'a2a-messages-schemas': ['protocols'],
};

/** Packages that run in a browser too. */
const WITHOUT_NODE = ['protocols', 'client', 'console', 'a2a-messages-schemas'];

/** Where a package does not keep its sources in `src`. */
const SOURCES: Readonly<Record<string, string>> = { 'a2a-messages-schemas': 'typescript' };

/** Packages whose files carry all that they are made of. */
const BUNDLES = ['a2a-messages-schemas', 'console'];

/** What lies at the root of these packages: every other file is in the room that owns it. */
const AT_ROOT: Readonly<Record<string, readonly string[]>> = {
  core: ['index.ts'],
  server: ['index.ts', 'server.ts', 'version.ts'],
};

interface Import {
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const packages = readdirSync(join(root, 'packages'));
const sources = packages.flatMap((name) => sourceFiles(join(root, 'packages', name, SOURCES[name] ?? 'src')));
const imports = sources.flatMap(importsOf);

describe('the dependency direction', () => {
  test('every package has its place in the table', () => {
    expect(Object.keys(MAY_USE)).toEqual(expect.arrayContaining(packages));
  });

  test('a package imports only packages it may use', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      const used = /^@dragoman\/([^/]+)/.exec(specifier)?.[1];
      return used !== undefined && used !== packageOf(file) && !MAY_USE[packageOf(file)]?.includes(used);
    });
    expect(wrong).toEqual([]);
  });

  test('a package reaches another by its name, never by a path', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      return specifier.startsWith('.') && packageOf(targetOf({ file, specifier })) !== packageOf(file);
    });
    expect(wrong).toEqual([]);
  });

  test('a package imports only what its package.json names', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      if (specifier.startsWith('.') || isBuiltin(specifier)) return false;
      const manifest = JSON.parse(readFileSync(join(root, 'packages', packageOf(file), 'package.json'), 'utf8'));
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      const built = BUNDLES.includes(packageOf(file)) ? manifest.devDependencies : {};
      return !Object.hasOwn({ ...manifest.dependencies, ...manifest.optionalDependencies, ...built }, name);
    });
    expect(wrong).toEqual([]);
  });

  test('packages for any runtime import nothing of Node', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      return WITHOUT_NODE.includes(packageOf(file)) && isBuiltin(specifier);
    });
    expect(wrong).toEqual([]);
  });

  test('no dialect imports another; all import the hub', () => {
    const dialectOf = (file: string) => /^packages\/protocols\/src\/(a2\w-\w+)\//.exec(file)?.[1];
    const wrong = imports.filter(({ file, specifier }) => {
      const target = dialectOf(targetOf({ file, specifier }));
      return (
        specifier.startsWith('.') && target !== undefined && dialectOf(file) !== undefined && target !== dialectOf(file)
      );
    });
    expect(wrong).toEqual([]);
  });

  test('no module depends on itself in a circle at run time', () => {
    const graph = new Map<string, string[]>(sources.map((file) => [file, []]));
    for (const { file, specifier, typeOnly } of imports) {
      if (specifier.startsWith('.') && !typeOnly) graph.get(file)?.push(targetOf({ file, specifier }));
    }
    expect(cyclesIn(graph)).toEqual([]);
  });
});

describe('the folders of a package', () => {
  test.each(Object.keys(AT_ROOT))('of %s use each other in one direction', (name) => {
    expect(cyclesIn(folderGraph(name))).toEqual([]);
  });

  test.each(Object.entries(AT_ROOT))('of %s own its files', (name, files) => {
    const root = `packages/${name}/src/`;
    const found = sources.filter((file) => file.startsWith(root) && !file.slice(root.length).includes('/'));
    expect(found.map((file) => file.slice(root.length)).sort()).toEqual(files);
  });

  test('workflow knows no network', () => {
    const wrong = imports.filter(({ file, specifier }) => {
      const target = targetOf({ file, specifier });
      return file.startsWith('packages/core/src/workflow/') && target.startsWith('packages/core/src/gate/');
    });
    expect(wrong).toEqual([]);
  });
});

describe('the pure package', () => {
  const pure = sources.filter((file) => packageOf(file) === 'protocols');

  test('reads no clock, makes no ids, prints nothing', () => {
    const forbidden =
      /\b(?:Date\.now|new Date\(\)|Math\.random|randomUUID|process\.|console\.|performance\.|setTimeout|fetch\()/;
    const wrong = pure.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter((line) => forbidden.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(wrong).toEqual([]);
  });

  test('compiles against ECMAScript alone', () => {
    const config = JSON.parse(readFileSync(join(root, 'packages/protocols/tsconfig.json'), 'utf8'));
    expect(config.compilerOptions).toMatchObject({ lib: ['ES2023'], types: [] });
  });

  test('has no module named for nothing in particular', () => {
    expect(sources.filter((file) => /\b(?:utils?|helpers?|common|misc)\.tsx?$/.test(file))).toEqual([]);
  });
});

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.(?:test|contract|d)\.ts$/.test(file))
    .map((file) => relative(root, join(folder, file)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(
    /^(?:import|export)\b([^'";]*?)\bfrom\s*'([^']+)'|\bimport\(\s*'([^'$]+)'\s*\)|^import\s*'([^']+)'/gm,
  );
  return [...found].map(([, clause = '', from, dynamic, bare]) => ({
    file,
    specifier: from ?? dynamic ?? bare ?? '',
    typeOnly: /^\s*type\b/.test(clause),
  }));
}

function targetOf({ file, specifier }: { file: string; specifier: string }): string {
  return normalize(join(dirname(file), specifier));
}

function packageOf(file: string): string {
  return /^packages\/([^/]+)\//.exec(file)?.[1] ?? '';
}

/** Who uses whom within a package: its folders, and the files at its root. The list of what it exports is neither. */
function folderGraph(name: string): Map<string, string[]> {
  const source = `packages/${name}/src/`;
  const roomOf = (file: string) => file.slice(source.length).split('/')[0] ?? '';
  const graph = new Map<string, string[]>();
  for (const { file, specifier } of imports) {
    if (!file.startsWith(source) || !specifier.startsWith('.')) continue;
    const [from, to] = [roomOf(file), roomOf(targetOf({ file, specifier }))];
    if (from === 'index.ts' || from === to) continue;
    const used = graph.get(from) ?? [];
    if (!used.includes(to)) graph.set(from, [...used, to]);
  }
  return graph;
}

function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node);
    if (start !== -1) {
      cycles.push([...path.slice(start), node]);
      return;
    }
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}
