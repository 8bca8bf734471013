import { dirname } from 'node:path/posix';
import type { Source } from './sources.ts';

/** A file with its only importer. */
export interface ImportedOnce {
  readonly path: string;
  readonly importer: string;
}

/** Finds the files that exactly one other file imports, if it is in the same folder. */
export function filesWithOneImporter(sources: readonly Source[]): readonly ImportedOnce[] {
  const imports = sources.flatMap(({ path, imports }) => {
    const targets = new Set(imports.map(({ target }) => target));
    return Array.from(targets, (target) => ({ path: target, importer: path }));
  });
  const byTarget = Map.groupBy(imports, ({ path }) => path);
  return sources.flatMap(({ path }) => {
    const [only, ...others] = byTarget.get(path) ?? [];
    if (only === undefined || others.length > 0) return [];
    return dirname(only.importer) === dirname(path) ? only : [];
  });
}

/** Finds the import cycles, each once per import that closes it; imports of types count as well. */
export function importCycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const targets = new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target)]));
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, importers: readonly string[]): void => {
    if (done.has(path)) return;
    if (importers.includes(path)) {
      cycles.push(importers.slice(importers.indexOf(path)));
      return;
    }
    for (const target of targets.get(path) ?? []) visit(target, [...importers, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}
