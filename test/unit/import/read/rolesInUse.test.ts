import { expect, it, onTestFinished } from 'vitest';
import { Deletions, type Mirror } from '../../../../functions/import/mirror/deletions.ts';
import { findRolesInUse } from '../../../../functions/import/read/rolesInUse.ts';
import { documentPath, readByPath } from '../../../../shared/store/store.ts';
import { contextOf, plan, storeWith } from '../../../support/import/batches.ts';

const projectGrant = (...roleKeys: readonly string[]) =>
  plan('projectGrants', { grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'B', roleKeys } }, 'A');
const userGrant = plan('userGrants', { userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys: ['lost'] }, 'B');
const path = documentPath(userGrant.key);

it.each([
  ['of the file', (deletions: Deletions) => deletions.addFileRecord(path)],
  [
    'to delete',
    (deletions: Deletions) => deletions.add({ key: userGrant.key, section: userGrant.record.section, orgId: 'B' }),
  ],
])('a search for user grants %s returns them, and leaves the list of deletions as it was', async (_which, add) => {
  const store = await storeWith(projectGrant('lost', 'kept'), userGrant);
  const deletions = new Deletions();
  onTestFinished(() => deletions[Symbol.dispose]());
  add(deletions);
  const unused = () => {
    throw new Error('a search settles no record');
  };
  const handlers = { onFreeing: unused, onFreed: unused, onSettled: unused };
  const mirror: Mirror = { deletions, isDeleting: true, adopts: new Set(), ...handlers };
  const base = { ...contextOf(store, 'overwrite').base, snapshot: () => store.view() };
  const changed = projectGrant('kept');
  const documents = new Map(
    Array.from(await readByPath(store, [changed.key], ['orgId', 'body']), ([key, found]) => {
      if (found === undefined) throw new Error(`${key} is missing`);
      return [key, found] as const;
    }),
  );
  const earlyPaths = () =>
    [...deletions.ofPhase(4, 'early')].flatMap((batch) => batch.map(({ key }) => documentPath(key)));
  const { rolesInUse, early } = await findRolesInUse(base, [changed], documents, mirror);
  expect([rolesInUse.size, early.map(({ key }) => documentPath(key)), earlyPaths()]).toEqual([0, [path], []]);
  for (const grant of early) deletions.deleteEarly(grant);
  expect(earlyPaths()).toEqual([path]);
});
