import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { OnConflict } from '../../../functions/import/contract.ts';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { uniqueStamp } from '../../../functions/import/stamp.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { ReadRounds } from '../../support/stores/readRounds.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

const ids = Array.from({ length: 30 }, (_, index) => `U${index}`);

/** A file in which each phase of records is one batch. */
function fileOf(text: string): Buffer {
  const profile = { firstName: text, lastName: 'L' };
  const orgs = [
    organisation('A', {
      projects: [{ projectId: 'P', project: { name: 'P' } }],
      projectRoles: [{ projectId: 'P', roleKey: 'r', displayName: text }],
      humanUsers: ids.map((id) => ({
        ...person(id),
        user: { ...person(id).user, userName: `${id}@a.example`, profile },
      })),
      orgMembers: ids.map((userId) => ({ userId, roles: ['ORG_OWNER'] })),
      userGrants: ids.map((userId) => ({ userId, projectId: 'P', roleKeys: ['r'] })),
    }),
  ];
  return Buffer.from(JSON.stringify({ orgs }));
}

/** Imports, and returns the numbers of rounds of reads of each phase of records. */
async function readRounds(store: Store, text: string, onConflict: OnConflict): Promise<readonly number[]> {
  const rounds = new ReadRounds();
  const phases: number[] = [];
  const onProgress = () => void phases.push(rounds.take());
  const source = { open: () => Readable.from([fileOf(text)]) };
  const { signal } = new AbortController();
  const stamp = uniqueStamp(new Date());
  const { errors } = await importOrganisations(rounds.around(store), source, { onConflict, onProgress }, stamp, signal);
  expect(errors).toBeUndefined();
  onProgress();
  return phases.slice(2);
}

describeStores('an import', (kind) => {
  it('makes one round of reads for a batch, and none for records that it has just created', async () => {
    const store = await openTestStore(kind);
    await initialise(store, { name: 'reads' }, DAY_MS, new Date());
    // The scope of login names, and the domain of the user names; the trace of removed members; the project grants that
    // user grants may use, which decide about their keys and references.
    expect(await readRounds(store, 'x', 'report')).toEqual([0, 2, 1, 2]);
    const [projects, users, members, userGrants] = await readRounds(store, 'x', 'report');
    expect([projects, users, members]).toEqual([1, 2, 1]);
    expect(userGrants).toBeLessThanOrEqual(2);
    // Changed records are read once more, since they might be unchanged.
    expect((await readRounds(store, 'y', 'skip')).slice(0, 3)).toEqual([1, 4, 1]);
    // Bodies and claims of changed records are read at once.
    expect((await readRounds(store, 'y', 'overwrite')).slice(0, 3)).toEqual([1, 4, 1]);
  });

  it('reads no person again for the links inside, if it has just created the person or the person is unchanged', async () => {
    const store = await openTestStore(kind);
    const file = () => {
      const idps = (id: string) => [{ configId: 'I', externalUserId: id, displayName: id }];
      const people = ids.map((id) => ({ ...person(id), user: { ...person(id).user, idps: idps(id) } }));
      const oidcIdps = [{ idpId: 'I', idp: { name: 'I', issuer: 'https://i.example', clientId: 'c', scopes: [] } }];
      return Buffer.from(JSON.stringify({ orgs: [organisation('A', { oidcIdps, humanUsers: people })] }));
    };
    const importLinks = async () => {
      const reads: string[] = [];
      const counted = decorateStore(store, ({ getMany }) => ({
        getMany: (keys, fields) => {
          for (const { collection } of keys)
            if (collection === 'users') reads.push(fields === undefined || fields.includes('body') ? 'body' : 'digest');
          return getMany(keys, fields);
        },
      }));
      const source = { open: () => Readable.from([file()]) };
      const stamp = uniqueStamp(new Date());
      const report = await importOrganisations(counted, source, {}, stamp, new AbortController().signal);
      expect(report.errors).toBeUndefined();
      return reads;
    };
    expect(await importLinks()).toEqual([]);
    // Each person is compared once, and is the parent of one link.
    expect(await importLinks()).toEqual(ids.flatMap(() => ['digest', 'digest']));
  });
});
