import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** A TypeScript file of the repository. */
export interface Source {
  /** The path from the repository's root. */
  readonly path: string;
  /** The files that this file imports, also by `import()`, as paths from the repository's root. */
  readonly imports: readonly string[];
}

/** The last line of a statement that imports another file. */
const STATEMENT = /^(?:import|export|\}) .*'(\.{1,2}\/[^']+\.ts)';$/;
const CALL = /\bimport\('(\.{1,2}\/[^']+\.ts)'\)/;

/** Reads the files that match a pattern, in the order of their paths. */
export function readSources(root: string, pattern: string): readonly Source[] {
  const paths = globSync(pattern, { cwd: root });
  return paths.sort().map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}

/** Parses a formatted file. `path` starts at the repository's root. */
export function parseSource(path: string, text: string): Source {
  const specifiers = text.split('\n').flatMap((line) => (STATEMENT.exec(line) ?? CALL.exec(line))?.[1] ?? []);
  return { path, imports: specifiers.map((specifier) => join(dirname(path), specifier)) };
}
