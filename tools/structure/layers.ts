import type { Source } from './sources.ts';

/**
 * The parts of the product, from the lowest layer to the highest; each row is a layer. A part may import only from
 * parts of lower layers, not from other parts of its own layer. A name is a folder, or a file without its extension.
 * `*` stands for any folder, each of which is a separate part.
 */
const layers: readonly (readonly string[])[] = [
  ['shared/shellWord', 'shared/async', 'shared/systemCode', 'shared/defined'],
  ['shared/processLock'],
  [
    'shared/errors',
    'shared/json',
    'shared/turns',
    'shared/workerPool',
    'shared/clock',
    'shared/collections',
    'shared/durableFiles',
    'shared/lookAlikes',
    'shared/nearestName',
  ],
  ['shared/bcryptCosts', 'shared/duration', 'shared/log', 'shared/ownFiles', 'shared/retry'],
  ['shared/limitDefinition'],
  ['shared/limits'],
  ['shared/store', 'shared/objectStorage'],
  ['shared/config', 'shared/organisation'],
  ['shared/exportFile'],
  ['shared/openapi'],
  ['shared/wire', 'shared/audit'],
  ['shared/auth'],
  ['shared/accounts'],
  ['shared/http'],
  ['shared/rpc'],
  ['functions/ports'],
  ['functions/transferCalls'],
  ['functions/*/contract'],
  ['functions/*'],
  ['functions/endpoints', 'functions/emptyInstance'],
  ['functions/functionProgram'],
  ['functions/*/index'],
  ['local', 'cli/records', 'cli/accounts'],
  ['cli/terminal'],
  ['cli/http'],
  ['cli/exports'],
  ['cli/places'],
  ['cli/zitadel'],
  ['cli/open'],
  ['cli/comparison', 'cli/report'],
  ['cli/migrate'],
  ['cli/commands'],
  ['cli/identity'],
  ['tools/program', 'tools/freePort'],
  ['tools/firestoreEmulator'],
  ['tools/build'],
  ['tools/bench'],
  ['tools'],
];

/**
 * Parts that files in a folder must not import, although the parts are in a lower layer. `instead` describes what these
 * files may import.
 */
const barred: readonly { readonly folder: string; readonly parts: string; readonly instead: string }[] = [
  { folder: 'cli/', parts: 'functions/*', instead: 'its contract, or shared' },
];

interface Violation {
  readonly path: string;
  readonly target: string;
  readonly reason: string;
}

export function layerViolations(sources: readonly Source[], rows = layers, bars = barred): readonly Violation[] {
  return sources.flatMap(({ path, imports }) => {
    const part = findPart(path, rows);
    return imports.flatMap((target) => {
      const imported = findPart(target, rows);
      if (part === undefined || imported?.name === part.name) return [];
      if (imported === undefined) return { path, target, reason: 'it has no layer' };
      const bar = bars.find(({ folder, parts }) => path.startsWith(folder) && imported.pattern === parts);
      if (bar !== undefined) return { path, target, reason: `import ${bar.instead}` };
      if (imported.row < part.row) return [];
      return {
        path,
        target,
        reason: `${part.name} imports ${imported.name}, which is ${imported.row === part.row ? 'in the same layer' : 'above it'}`,
      };
    });
  });
}

export function unplacedFiles(sources: readonly Source[], rows = layers): readonly string[] {
  return sources.map(({ path }) => path).filter((path) => findPart(path, rows) === undefined);
}

interface Part {
  readonly name: string;
  readonly pattern: string;
  readonly row: number;
}

/** Returns the part that contains a file. If several names match the path, the longest applies. */
function findPart(path: string, rows: typeof layers): Part | undefined {
  const parts = rows.flatMap((names, row) =>
    names.flatMap((name) => {
      const end = name.endsWith('*') ? '(?=/)' : '(?=/|\\.ts$)';
      const [match] = new RegExp(`^${name.replaceAll('*', '[^/]+')}${end}`).exec(path) ?? [];
      return match === undefined ? [] : [{ name: match, pattern: name, row }];
    }),
  );
  return parts.sort((a, b) => b.name.length - a.name.length)[0];
}
