import { describe, expect, it } from 'vitest';
import { type LockFile, readLockFile } from '../../../tools/build/deployedPackage.ts';
import { acceptedLicences, packagePlaces, thirdPartyNotice } from '../../../tools/build/thirdParty.ts';

const lock = await readLockFile();

/** The lock file with another licence of one package. */
function withLicence(place: string, license: string | undefined): LockFile {
  const locked = lock.packages[place] ?? { version: '' };
  return { ...lock, packages: { ...lock.packages, [place]: { ...locked, license } } };
}

describe('the packages of bundled files', () => {
  it('are those whose directories contain the files, including nested ones', () => {
    const files = [
      'shared/log.ts',
      'node_modules/a/lib/x.js',
      'node_modules/@b/c/y.js',
      'node_modules/a/node_modules/d/z.js',
    ];
    expect(packagePlaces([...files, 'node_modules/a/index.js'])).toEqual([
      'node_modules/@b/c',
      'node_modules/a',
      'node_modules/a/node_modules/d',
    ]);
  });
});

describe('the notice of third parties', () => {
  it('lists each package with version and licence, and each licence text once', async () => {
    const files = [
      'functions/export/app.ts',
      'node_modules/hono/dist/hono.js',
      'node_modules/once/once.js',
      'node_modules/wrappy/wrappy.js',
    ];
    const notice = await thirdPartyNotice(files, lock);
    expect(notice).toContain(`hono ${lock.packages['node_modules/hono']?.version} (MIT)`);
    expect(notice).toContain('Copyright (c) 2021 - present, Yusuke Wada and Hono contributors');
    expect(notice).toContain('once 1.4.0 (ISC)\nwrappy 1.0.2 (ISC)');
    expect(notice.match(/The ISC License/g)).toHaveLength(1);
  });

  it('marks a package without a copy of its licence', async () => {
    const notice = await thirdPartyNotice(['node_modules/@connectrpc/connect/dist/index.js'], lock);
    expect(notice).toContain('The package has no copy of its licence, which is Apache-2.0.');
  });

  it.each(['GPL-3.0-only', 'UNLICENSED', undefined])('rejects a package under %s', async (licence) => {
    const notice = thirdPartyNotice(['node_modules/hono/dist/hono.js'], withLicence('node_modules/hono', licence));
    await expect(notice).rejects.toThrow(`hono has the licence ${licence}`);
  });
});

describe('the lock file', () => {
  it('has no runtime dependency whose licence is not accepted', () => {
    const others = Object.entries(lock.packages).filter(([place, { dev, license }]) => {
      return place !== '' && dev !== true && !acceptedLicences.includes(String(license));
    });
    expect(others.map(([place, { license }]) => [place, license])).toEqual([]);
  });
});
