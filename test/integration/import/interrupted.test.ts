import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { type Store, WriteConflictError } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { repeatingStore, watchedStore } from '../../support/stores/watchedStore.ts';

const PEOPLE = 700;
const numbers = Array.from({ length: PEOPLE }, (_, index) => index);
/** An organisation with records of every phase. */
const large: Organisation = organisation('large', {
  humanUsers: numbers.map((number) => person(`P${number}`, { hashedPassword: { value: `$2a$10$${number}` } })),
  userMetadata: numbers.map((number) => ({ id: `P${number}`, key: 'number', value: 'eA==' })),
  orgMembers: numbers.map((number) => ({ userId: `P${number}`, roles: ['ORG_OWNER'] })),
});
const total = { org: 1, humanUsers: PEOPLE, userMetadata: PEOPLE, orgMembers: PEOPLE };

const counts = z.record(z.string(), z.number());
const progress = z.tuple([
  z.strictObject({
    '@type': z.literal('type.googleapis.com/identity.v1.ImportProgress'),
    written: counts,
    total: counts,
    resumable: z.literal(true),
  }),
]);

function run(store: Store, orgs: readonly Organisation[], signal = new AbortController().signal) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) };
  return importOrganisations(store, source, { withKeys: true }, '2026-01-01T00:00:00.000123Z', signal);
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (reason: unknown) => reason,
  );

describe('an import whose timeout expires in the middle', () => {
  it.each([
    ['the organisation is in', 1],
    ['some people are in', 300],
    ['all people are in', 2 * PEOPLE + 2],
    ['metadata is in', 2 * PEOPLE + 300],
    ['members are in', 3 * PEOPLE + 300],
  ])('reports its progress when %s, and completes when it is sent again', async (_when, limit) => {
    const store = await openTestStore();
    const controller = new AbortController();
    let written = 0;
    const watched = watchedStore(store, (writes) => {
      written += writes.length;
      if (written >= limit) controller.abort(deadlineExceeded());
    });
    const error = await failure(run(watched, [large], controller.signal));
    if (!(error instanceof IdentityError)) throw error;
    expect({ code: error.code, status: error.httpStatus }).toEqual({ code: 'DEADLINE_EXCEEDED', status: 504 });
    const [reached] = progress.parse(error.details);
    expect(reached.total).toEqual(total);
    const instance = await testInstance(store);
    expect((await instance.export()).manifest.counts).toEqual({ orgs: 1, ...reached.written });
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [large] } });
    expect(errors).toBeUndefined();
    expect(summary.unchanged).toEqual(reached.written);
    const all = Object.entries(total).map(([name, count]) => [name, count - (reached.written[name] ?? 0)] as const);
    expect(summary.created).toEqual(Object.fromEntries(all.filter(([, count]) => count > 0)));
    expect(comparable((await instance.export()).orgs)).toEqual(
      comparable([{ ...large, humanUsers: withStates(large), orgState: 'ORG_STATE_ACTIVE' }]),
    );
  });

  it('reports what it has written itself, without the records of an earlier import', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ dataOrgs: { orgs: [{ ...large, orgMembers: [] }] } });
    const controller = new AbortController();
    const watched = watchedStore(store, (writes) => {
      if (writes.some(({ key }) => key.collection === 'members')) controller.abort(deadlineExceeded());
    });
    const error = await failure(run(watched, [large], controller.signal));
    if (!(error instanceof IdentityError)) throw error;
    const [{ written }] = progress.parse(error.details);
    const { orgMembers } = (await instance.export()).manifest.counts;
    expect(orgMembers).toBeGreaterThan(0);
    expect(written).toEqual({ orgMembers });
  });

  it('gets 504 at the timeout of the request, even one of a nanosecond', async () => {
    const instance = await testInstance(await openTestStore());
    const { status, body } = await instance.refusedImport({ dataOrgs: { orgs: [large] }, timeout: '1ns' });
    expect({ status, code: body.code }).toEqual({ status: 504, code: 4 });
  });

  it('writes nothing if its timeout expires before the whole document was read', async () => {
    const store = await openTestStore();
    const controller = new AbortController();
    controller.abort(deadlineExceeded());
    expect(await failure(run(store, [large], controller.signal))).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      details: [{ '@type': 'type.googleapis.com/identity.v1.ImportProgress', written: {}, resumable: true }],
    });
    const instance = await testInstance(store);
    expect((await instance.export()).orgs).toEqual([]);
  });
});

describe('a commit whose response is lost', () => {
  // According to the store, such a commit is sent again, and then finds its own documents.
  const losing = (store: Store): Store => ({
    ...watchedStore(store, () => {}),
    commit: async (writes) => {
      await store.commit(writes);
      if (writes.some(({ type }) => type === 'create')) throw new WriteConflictError('a document exists');
    },
  });

  it('is not an error: its records count as created', async () => {
    const store = await openTestStore();
    const report = z.looseObject({ errors: z.unknown().optional(), summary: z.looseObject({ created: counts }) });
    const { errors, summary } = report.parse(await run(losing(store), [large]));
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: total });
  });

  it('is still an error for a duplicate record of the document, in one batch or in two', async () => {
    const store = await openTestStore();
    const report = z.looseObject({ errors: z.array(z.object({ id: z.string() })) });
    const people = numbers.map((number) => person(`P${number}`));
    const humanUsers = [person('P3'), ...people, person('P650')];
    const { errors } = report.parse(await run(losing(store), [organisation('O', { humanUsers })]));
    expect(errors.map(({ id }) => id).sort()).toEqual(['P3', 'P650']);
  });

  const names = (...people: readonly (readonly [userId: string, userName: string])[]) =>
    organisation('O', { humanUsers: people.map(([userId, userName]) => person(userId, { userName })) });
  const projects = [{ projectId: 'P', project: { name: 'P' } }];
  const apps = (...list: readonly (readonly [appId: string, name: string])[]) =>
    organisation('O', { projects, apiApps: list.map(([appId, name]) => ({ appId, app: { projectId: 'P', name } })) });
  const states = (state: string) => organisation('O', { humanUsers: [{ ...person('U'), state }] });
  it.for([
    ['a login name that a later record gives up', names(['old', 'a']), names(['new', 'a'], ['old', 'b'])],
    ['a name that a later app gives up', apps(['old', 'A']), apps(['new', 'A'], ['old', 'B'])],
    ['a name that an earlier record gives up', names(['old', 'a']), names(['old', 'b'], ['new', 'a'])],
    ['a changed state', states('USER_STATE_ACTIVE'), states('USER_STATE_LOCKED')],
  ] as const)(
    'and whose decision is repeated has the outcome of an undisturbed import: %s',
    async ([_what, before, file]) => {
      const importing = async (disturb: (store: Store) => Store) => {
        const store = await openTestStore();
        const instance = await testInstance(store);
        await instance.import({ data_orgs: { orgs: [before] } });
        const body = { data_orgs: { orgs: [file] }, on_conflict: 'overwrite' };
        const { errors, success, summary } = await servedInstance(disturb(store), instance).import(body);
        return { errors, success, summary, orgs: comparable((await instance.export()).orgs) };
      };
      expect(await importing(repeatingStore)).toEqual(await importing((store) => store));
    },
  );
});

function withStates({ humanUsers }: Organisation): object[] {
  return z
    .array(z.looseObject({}))
    .parse(humanUsers)
    .map((one) => ({ ...one, state: 'USER_STATE_ACTIVE' }));
}
