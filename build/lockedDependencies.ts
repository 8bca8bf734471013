import { z } from 'zod';
import type { LockFile } from './lockFile.ts';

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
    const place = placeOf(packages, from, name);
    if (place === undefined && !optional) throw new Error(`package-lock.json lacks ${name}, needed by ${from || 'us'}`);
    if (place === undefined || places.has(place)) return;
    places.add(place);
    for (const [dependency, isOptional] of requirementsOf(packages[place])) visit(place, dependency, isOptional);
  };
  for (const name of names) visit('', name, false);
  return Object.fromEntries(Object.entries(packages).filter(([place]) => places.has(place)));
}

// As Node looks for it: in the package itself, then in each that it lies in.
function placeOf(packages: Packages, from: string, name: string): string | undefined {
  const place = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (packages[place] !== undefined) return place;
  const outer = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')));
  return from === '' ? undefined : placeOf(packages, outer, name);
}

function requirementsOf(locked: unknown): (readonly [name: string, isOptional: boolean])[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = requirements.parse(locked);
  return [
    ...Object.keys(dependencies).map((name) => [name, name in optionalDependencies] as const),
    ...Object.keys(optionalDependencies).map((name) => [name, true] as const),
    ...Object.keys(peerDependencies).map((name) => [name, peerDependenciesMeta[name]?.optional === true] as const),
  ];
}
