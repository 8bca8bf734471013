import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

export interface Source {
  /** The path, relative to the repository. */
  readonly path: string;
  /** The paths of the imported files, relative to the repository; includes files imported by `import()`. */
  readonly imports: readonly string[];
}

/** Matches the last line of a statement that imports or exports from another file. */
const STATEMENT = /^(?:import|export|\}) .*'(\.{1,2}\/[^']+\.ts)';$/;
const CALL = /\bimport\('(\.{1,2}\/[^']+\.ts)'\)/;

export function readSources(root: string, pattern: string): readonly Source[] {
  const paths = globSync(pattern, { cwd: root });
  return paths.sort().map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}

/**
 * Lists the imports of a file, which must be formatted.
 * @param path relative to the repository
 */
export function parseSource(path: string, text: string): Source {
  const specifiers = text.split('\n').flatMap((line) => (STATEMENT.exec(line) ?? CALL.exec(line))?.[1] ?? []);
  return { path, imports: specifiers.map((specifier) => join(dirname(path), specifier)) };
}
