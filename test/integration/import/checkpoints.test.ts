import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { changeRole } from '../../../shared/accounts/members.ts';
import { deleteServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import type { Collection, DocumentKey, Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const counts = z.record(z.string(), z.number());
const report = z.looseObject({
  errors: z.array(z.object({ id: z.string() })).default([]),
  summary: z.looseObject({ created: counts, unchanged: counts, failed: counts, resumed: z.boolean() }),
});

/** Every import has a moment of its own. */
let imports = 0;
const moment = (day: string) => `2026-01-${day}T00:00:00.${String(imports++).padStart(6, '0')}Z`;

const optionsOn = (day: string) => ({ withKeys: false, now: () => new Date(`2026-01-${day}T00:00:00Z`) });

const open = (org: Organisation) => ({ open: () => inPieces(Buffer.from(JSON.stringify({ orgs: [org] }))) });

async function run(store: Store, org: Organisation, day = '01') {
  const signal = new AbortController().signal;
  return report.parse(await importOrganisations(store, open(org), optionsOn(day), moment(day), signal));
}

/** What an import writes before its records. */
const preparations: readonly Collection[] = ['organisations', 'claims', 'instance'];

/** Imports until records are written. */
async function stop(store: Store, org: Organisation, day = '01'): Promise<void> {
  const controller = new AbortController();
  const watched = watchedStore(store, (writes) => {
    const hasRecords = writes.some(({ key }) => !preparations.includes(key.collection));
    if (hasRecords) controller.abort(deadlineExceeded());
  });
  const stopped = importOrganisations(watched, open(org), optionsOn(day), moment(day), controller.signal);
  await expect(stopped).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
}

const people = (orgId: string, count = 20) =>
  organisation(orgId, {
    humanUsers: Array.from({ length: count }, (_, index) => person(`${orgId}-${index}`)),
  });

/** Service users, each of which may manage the organisation. */
function robots(orgId: string): Organisation {
  const ids = Array.from({ length: 20 }, (_, index) => `${orgId}-${index}`);
  return organisation(orgId, {
    machineUsers: ids.map((userId) => ({ userId, user: { userName: userId, name: userId } })),
    orgMembers: ids.map((userId) => ({ userId, roles: ['ORG_OWNER'] })),
  });
}

async function checkpoints(store: Store): Promise<DocumentKey[]> {
  const documents = (await readDatabase(store)).get('instance') ?? [];
  // Notes of imports stand beside them, in partitions.
  const unpartitioned = documents.filter(({ partition }) => partition === undefined);
  return unpartitioned.map(({ id }) => ({ collection: 'instance', id }));
}

describe('checkpoints', () => {
  it('let every import resume, however many were stopped at once', async () => {
    const store = await openTestStore();
    const orgs = Array.from({ length: 17 }, (_, index) => people(`O${index}`));
    for (const org of orgs) await stop(store, org);
    const resumed: boolean[] = [];
    for (const org of orgs) resumed.push((await run(store, org)).summary.resumed);
    expect(resumed).toEqual(orgs.map(() => true));
  });

  it('of many separate failures are saved too', async () => {
    const store = await openTestStore();
    const users = Array.from({ length: 10 }, (_, index) => person(`U${index}`));
    const userMetadata = Array.from({ length: 24_000 }, (_, index) => ({
      id: index % 2 === 0 ? 'U1' : 'missing',
      key: `${index}`,
      value: 'eA==',
    }));
    const org = organisation('O', { humanUsers: users, userMetadata });
    const controller = new AbortController();
    let written = 0;
    const watched = watchedStore(store, (writes) => {
      written += writes.length;
      if (written >= 11_500) controller.abort(deadlineExceeded());
    });
    const stopped = importOrganisations(watched, open(org), optionsOn('01'), moment('01'), controller.signal);
    await expect(stopped).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const documents = (await readDatabase(store)).get('instance') ?? [];
    const saved = documents.filter(({ partition }) => partition === undefined);
    const bodies = saved.map(({ body = '' }) => body.length);
    const read = saved.map(({ body = '{}' }) => readRecords(body));
    expect(read).toHaveLength(1);
    expect(read[0]).toBeGreaterThan(22_000);
    expect(Math.max(...bodies)).toBeLessThan(200_000);
    const { summary } = await run(store, org);
    expect(summary).toMatchObject({ resumed: true, failed: { userMetadata: 12_000 } });
    expect((summary.created.userMetadata ?? 0) + (summary.unchanged.userMetadata ?? 0)).toBe(12_000);
  });

  it('are deleted after a day, by the next import that saves one', async () => {
    const store = await openTestStore();
    await stop(store, people('old'));
    await stop(store, people('young'), '02');
    expect(await checkpoints(store)).toHaveLength(1);
  });

  it('are void once a service user is deleted: the next call creates it again', async () => {
    const store = await openTestStore();
    await stop(store, robots('O'));
    await deleteServiceUser(store, 'O-7');
    const { errors, summary } = await run(store, robots('O'));
    expect({ errors, summary }).toMatchObject({
      errors: [],
      summary: {
        resumed: false,
        created: { machineUsers: 1, orgMembers: 20 },
        unchanged: { org: 1, machineUsers: 19 },
      },
    });
  });

  it('are void once a membership is removed: the next call creates it again', async () => {
    const store = await openTestStore();
    const { machineUsers, ...fields } = robots('O');
    await run(store, organisation('O', { machineUsers }));
    await stop(store, fields);
    await changeRole(store, { userId: 'O-7', orgId: 'O' }, 'ORG_OWNER', 'remove', new Date());
    const { errors, summary } = await run(store, fields);
    expect({ errors, summary }).toMatchObject({
      errors: [],
      summary: { resumed: false, created: { orgMembers: 1 }, unchanged: { org: 1, orgMembers: 19 } },
    });
  });
});

function readRecords(body: string): number {
  const { phases } = z.object({ phases: z.array(z.object({ read: z.number() })) }).parse(JSON.parse(body));
  return Math.max(...phases.map(({ read }) => read));
}
