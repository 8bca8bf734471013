import type { Source } from './sources.ts';

/**
 * The product's parts from the ground up. A part may import from the rows before its own; parts in one row do not know
 * each other. A name is a folder or a file without its extension; `*` stands for each folder by itself.
 */
export const layers: readonly (readonly string[])[] = [
  [
    'shared/errors',
    'shared/json',
    'shared/systemCode',
    'shared/turns',
    'shared/workerPool',
    'shared/async',
    'shared/clock',
    'shared/durableFiles',
    'shared/lookAlikes',
  ],
  ['shared/duration', 'shared/log', 'shared/passwordHashing', 'shared/retry'],
  ['shared/limits'],
  ['shared/store', 'shared/objectStorage'],
  ['shared/config', 'shared/instance', 'shared/checkpointEpoch', 'shared/organisationRemovals', 'shared/organisation'],
  ['shared/openapi'],
  ['shared/wire', 'shared/audit'],
  ['shared/auth'],
  ['shared/accounts'],
  ['shared/http'],
  ['shared/rpc'],
  ['functions/ports'],
  ['functions/*'],
  ['functions/endpoints'],
  ['functions/*/index'],
  ['cli', 'local'],
  ['tools/program', 'tools/ports'],
  ['tools/firestoreEmulator'],
  ['build'],
  ['bench'],
  ['tools'],
];

/** An import that the layers forbid. */
export interface Violation {
  readonly path: string;
  readonly target: string;
  readonly reason: string;
}

interface Part {
  readonly name: string;
  readonly row: number;
}

/** Finds the imports of parts above or beside the importing one, and those of files outside the product. */
export function layerViolations(sources: readonly Source[], rows = layers): readonly Violation[] {
  const unplaced = new Set(unplacedFiles(sources, rows));
  return sources.flatMap(({ path, imports }) => {
    const part = findPart(path, rows);
    if (part === undefined) return [];
    return imports.flatMap(({ target }) => {
      const reason = unplaced.has(target) ? undefined : objection(part, findPart(target, rows));
      return reason === undefined ? [] : { path, target, reason };
    });
  });
}

/** Finds the files that no name in the table covers. */
export function unplacedFiles(sources: readonly Source[], rows = layers): readonly string[] {
  return sources.map(({ path }) => path).filter((path) => findPart(path, rows) === undefined);
}

function objection({ name, row }: Part, imported: Part | undefined): string | undefined {
  if (imported === undefined) return `${name} may import the product only`;
  if (imported.name === name || imported.row < row) return undefined;
  return `${imported.name} is ${imported.row === row ? 'beside' : 'above'} ${name}`;
}

/** Returns the part that a file belongs to, by the longest name in the table. */
function findPart(path: string, rows: typeof layers): Part | undefined {
  const matches = rows.flatMap((names, row) => names.flatMap((name) => matchPart(path, name, row)));
  return matches.sort((a, b) => b.weight - a.weight)[0];
}

function matchPart(path: string, name: string, row: number): (Part & { weight: number })[] {
  const end = name.endsWith('*') ? '(?=/)' : '(?=/|\\.ts$)';
  const pattern = new RegExp(`^${name.replaceAll('*', '[^/]+')}${end}`);
  const [match] = pattern.exec(path) ?? [];
  if (match === undefined) return [];
  const exactness = name.includes('*') ? 0 : 1;
  return [{ name: match, row, weight: 2 * match.split('/').length + exactness }];
}
