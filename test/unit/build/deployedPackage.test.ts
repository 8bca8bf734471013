import { describe, expect, it } from 'vitest';
import { type LockFile, lockedDependencies } from '../../../tools/build/deployedPackage.ts';

/** A lock file with packages at places, each with its dependencies. */
function lockOf(packages: Readonly<Record<string, object>>): LockFile {
  const entries = Object.entries(packages).map(([place, more]) => [place, { version: '1.0.0', ...more }] as const);
  return { name: 'test', version: '1.0.0', lockfileVersion: 3, packages: Object.fromEntries(entries) };
}

const placesFrom = (lock: LockFile, ...roots: string[]) => Object.keys(lockedDependencies(lock, roots));

describe('the dependencies of some packages', () => {
  it('are these packages, their direct and indirect dependencies, and no others', () => {
    const lock = lockOf({
      '': { dependencies: { web: '1', test: '1' } },
      'node_modules/bytes': {},
      'node_modules/parser': { dependencies: { bytes: '1' } },
      'node_modules/test': {},
      'node_modules/web': { dependencies: { parser: '1' } },
    });
    expect(placesFrom(lock, 'web')).toEqual(['node_modules/bytes', 'node_modules/parser', 'node_modules/web']);
  });

  it('resolve to the nearest package of a name, as in Node', () => {
    const lock = lockOf({
      'node_modules/bytes': {},
      'node_modules/parser': { dependencies: { bytes: '1', web: '1' } },
      'node_modules/web': { dependencies: { parser: '2' } },
      'node_modules/web/node_modules/bytes': {},
      'node_modules/web/node_modules/parser': { dependencies: { bytes: '2' } },
    });
    expect(placesFrom(lock, 'web')).toEqual([
      'node_modules/web',
      'node_modules/web/node_modules/bytes',
      'node_modules/web/node_modules/parser',
    ]);
    expect(placesFrom(lock, 'parser')).toContain('node_modules/bytes');
  });

  it('may be circular', () => {
    const lock = lockOf({
      'node_modules/a': { dependencies: { b: '1' } },
      'node_modules/b': { dependencies: { a: '1' } },
    });
    expect(placesFrom(lock, 'a')).toEqual(['node_modules/a', 'node_modules/b']);
  });

  it('include optional ones that are installed, and may lack the others', () => {
    const optional = { optionalDependencies: { fast: '1', faster: '1' }, dependencies: { faster: '1' } };
    const peers = { peerDependencies: { plugin: '1' }, peerDependenciesMeta: { plugin: { optional: true } } };
    const lock = lockOf({ 'node_modules/fast': {}, 'node_modules/web': { ...optional, ...peers } });
    expect(placesFrom(lock, 'web')).toEqual(['node_modules/fast', 'node_modules/web']);
  });

  it('are rejected if one is missing', () => {
    const lock = lockOf({ 'node_modules/web': { peerDependencies: { parser: '1' } } });
    expect(() => lockedDependencies(lock, ['web'])).toThrow(
      'package-lock.json lacks parser, needed by node_modules/web',
    );
  });
});
