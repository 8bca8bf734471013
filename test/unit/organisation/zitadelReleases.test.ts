import { afterAll, expect, it, vi } from 'vitest';
import type { ReleaseRow } from '../../../shared/organisation/zitadelReleaseTable.ts';

vi.hoisted(() => vi.resetModules());

/** The table of the product, with an invented release that has a behaviour of the oldest releases again. */
vi.mock('../../../shared/organisation/zitadelReleaseTable.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../shared/organisation/zitadelReleaseTable.ts')>();
  const last: ReleaseRow | undefined = original.zitadelReleases.at(-1);
  return { zitadelReleases: [...original.zitadelReleases, { ...last, name: '1000', writesToFirstOwner: true }] };
});

// The files of a run share their modules.
afterAll(() => void vi.resetModules());

it('a behaviour that releases share only with a gap is rejected when the table is loaded', async () => {
  await expect(import('../../../shared/organisation/zitadelReleases.ts')).rejects.toThrow(
    'not consecutive: the releases with the same hasStates or writesToFirstOwner (2, 3, 1000); ',
  );
});
