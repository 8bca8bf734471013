import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** A TypeScript file of the repository. */
export interface Source {
  /** Path from the repository's root. */
  readonly path: string;
  readonly lines: readonly string[];
  /** The files that it imports, by their paths from the repository's root; those of `import()` as well. */
  readonly imports: readonly string[];
}

/** Files of fewer lines are small. */
const SMALL_FILE_LINES = 40;

/** The last line of a statement that imports another file. */
const STATEMENT = /^(?:import|export|\}) .*'(\.{1,2}\/[^']+\.ts)';$/;
const CALL = /\bimport\('(\.{1,2}\/[^']+\.ts)'\)/;

/** Reads the files that match a pattern, in the order of their paths. */
export function readSources(root: string, pattern: string): readonly Source[] {
  const paths = globSync(pattern, { cwd: root });
  return paths.sort().map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}

/** Parses one formatted file; `path` starts at the repository's root. */
export function parseSource(path: string, text: string): Source {
  const lines = text.trimEnd().split('\n');
  const specifiers = lines.flatMap((line) => (STATEMENT.exec(line) ?? CALL.exec(line))?.[1] ?? []);
  return { path, lines, imports: specifiers.map((specifier) => join(dirname(path), specifier)) };
}

/** Computes the figures of files and their imports. */
export function structureFigures(sources: readonly Source[]) {
  const sizes = sources.map(({ lines }) => lines.length).sort((a, b) => a - b);
  const small = sizes.filter((size) => size < SMALL_FILE_LINES);
  const code = sources.flatMap(({ lines }) => lines).filter((line) => !/^\s*(?:\/\/|\/\*|\*|$)/.test(line));
  const imports = code.filter((line) => STATEMENT.test(line));
  return {
    'lines of the product': lineCount(sources),
    'files of the product': sources.length,
    'median of the lines per file': sizes[Math.floor(sizes.length / 2)] ?? 0,
    'percentage of files under 40 lines': (100 * small.length) / sizes.length,
    'local imports per 100 lines of code': (100 * imports.length) / code.length,
  };
}

/** Returns the number of lines of all files together. */
export function lineCount(sources: readonly Source[]): number {
  return sources.reduce((sum, { lines }) => sum + lines.length, 0);
}

const notCounted =
  'docs/{decisions,reliability}/*.md,docs/{errors,configuration,command,performance,reliability,specification,zitadel}.md';

/** Counts the words of the README and the documents, without decisions, contracts and what programs have written. */
export function documentWords(root: string): number {
  const paths = globSync('{README.md,docs/**/*.md}', { cwd: root, exclude: [`{${notCounted}}`] });
  const texts = paths.map((path) => readFileSync(join(root, path), 'utf8'));
  return texts.join('\n').split(/\s+/).length;
}
