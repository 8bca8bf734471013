import { describe, expect, it, onTestFinished } from 'vitest';
import { deleteServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { routes as removalRoutes } from '../../../functions/removeOtpEmail/app.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { authenticate } from '../../../shared/auth/authorise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { createApp } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import { withLock } from '../../../shared/store/lock/fence.ts';
import type { Store } from '../../../shared/store/store.ts';
import { survived } from '../../faults/support/survived.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { grantedRobot, ROBOT, robot } from '../../support/fixtures/grantedRobot.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { readUser } from '../../support/stores/documents.ts';
import { interruptedStore, type Moment } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

const ROUNDS = 10;
const NOT_FOUND = { code: 'NOT_FOUND' };

let files = 0;
/** An import of the file that continues no earlier one. */
function newRequest() {
  const orgs = [...grantedRobot, organisation(`another ${files++}`)];
  return { data_orgs: { orgs }, with_keys: true };
}

const createToken = (store: Store) => issueToken(store, ROBOT, new Date(), DAY_MS);
const addRole = (store: Store, role: string, orgId?: string) =>
  changeRole(store, { userId: ROBOT, orgId }, role, 'add', new Date(), false);

/** Every operation by which another caller gives something to a user. */
const gifts: readonly [string, (store: Store) => Promise<unknown>][] = [
  ['pat create', createToken],
  ['member add on the instance', (store) => addRole(store, 'IAM_OWNER')],
  ['member add on an organisation', (store) => addRole(store, 'ORG_OWNER', 'c')],
];

/** An instance with the file's content. */
interface Filled {
  readonly store: Store;
  readonly instance: TestInstance;
  /** Restores the service user with all its grants and memberships. */
  restore(): Promise<void>;
}

async function filledInstance(kind?: StoreKind): Promise<Filled> {
  const store = await openTestStore(kind);
  const instance = await testInstance(store);
  const restore = async () => {
    expect((await instance.import(newRequest())).summary.failed).toEqual({});
    await addRole(store, 'IAM_USER_MANAGER');
    await createToken(store);
  };
  await restore();
  return { store, instance, restore };
}

/** The moments between the steps of a deletion, and the one after the last. */
function* moments(): Generator<Moment> {
  yield { commit: 0, when: 'after' };
  for (let commit = 1; ; commit++) yield* [{ commit, when: 'before' } as const, { commit, when: 'after' } as const];
}

const theProcessEnds = () => Promise.reject(new Error('the process ends'));

async function tokenOf(store: Store): Promise<string> {
  return (await createToken(store)).token;
}

/** The references to the service user in the database, and the violated invariants. */
async function remainsOf(store: Store): Promise<string[]> {
  const database = await readDatabase(store);
  const naming = [...database.values()].flat().filter((document) => JSON.stringify(document).includes(ROBOT));
  return [...violationsOf(database), ...naming.map(({ id }) => id)];
}

const ignored = () => undefined;

/** Ignores the error of a missing user, and throws any other. */
function exceptMissing(reason: unknown): void {
  expect(reason).toMatchObject(NOT_FOUND);
}

describe('a service user that is deleted', () => {
  it('leaves nothing in any organisation, however many tokens it has', async () => {
    const { store } = await filledInstance();
    for (let count = 0; count < 120; count++) await createToken(store);
    await deleteServiceUser(store, ROBOT);
    expect(await remainsOf(store)).toEqual([]);
  });

  it("has no rights in another organisation's import of the same id", async () => {
    const { store, instance } = await filledInstance();
    await deleteServiceUser(store, ROBOT);
    const orgs = [organisation('c', { machineUsers: [robot] })];
    expect((await instance.import({ data_orgs: { orgs } })).summary.created).toMatchObject({ machineUsers: 1 });
    const routes = removalRoutes({ store, audit: memoryTrail().audit, now: () => new Date() });
    const server = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0 });
    onTestFinished(async () => void (await server.close()));
    const headers = { authorization: `Bearer ${await tokenOf(store)}` };
    const response = await fetch(`${server.url}/v2/users/bea/otp_email`, { method: 'DELETE', headers });
    expect(response.status).toBe(403);
    expect(await readUser(store, 'bea')).toMatchObject({ otpEmail: true });
  });

  it.each(gifts)('gets nothing from a %s that began before', async (_name, give) => {
    const { store } = await filledInstance();
    const deleting = () => deleteServiceUser(store, ROBOT);
    const interrupted = interruptedStore(store, { commit: 0, when: 'before' }, deleting);
    await expect(give(interrupted)).rejects.toMatchObject(NOT_FOUND);
    expect(await remainsOf(store)).toEqual([]);
  });

  it.each(gifts)('gets nothing from a %s between the steps of its deletion', async (_name, give) => {
    const { store, restore } = await filledInstance();
    let count = 0;
    for (const between of moments()) {
      let outcome: unknown = 'never';
      const giving = async () => {
        outcome = await give(store).catch((reason: unknown) => reason);
      };
      await deleteServiceUser(interruptedStore(store, between, giving), ROBOT);
      if (outcome === 'never') break;
      count++;
      expect(outcome).toMatchObject(NOT_FOUND);
      expect(await remainsOf(store)).toEqual([]);
      await restore();
    }
    expect(count).toBeGreaterThan(5);
  });

  it('leaves nothing when its deletion and gifts happen at once', async (context) => {
    const { store, restore } = await filledInstance();
    for (let round = 0; round < ROUNDS; round++) {
      await restore();
      const giving = gifts.map(([, give]) => give(store).catch(ignored));
      await Promise.all([
        ...giving,
        deleteServiceUser(store, ROBOT),
        ...gifts.map(([, give]) => give(store).catch(ignored)),
      ]);
      expect(await remainsOf(store)).toEqual([]);
    }
    survived(context, 'user is deleted', 'SQLite', ROUNDS);
  });

  it('is blocked after the first step, and deleted by a repetition after an interruption at any step', async () => {
    const { store, restore } = await filledInstance();
    let ends = 0;
    for (const moment of moments()) {
      const authorization = `Bearer ${await tokenOf(store)}`;
      const ended = deleteServiceUser(interruptedStore(store, moment, theProcessEnds), ROBOT);
      const outcome = await ended.then<string, string>(
        () => 'deleted',
        (reason: unknown) => String(reason),
      );
      if (outcome === 'deleted') break;
      expect(outcome).toBe('Error: the process ends');
      ends++;
      await expect(authenticate(store, authorization, 'export', new Date())).rejects.toThrow('Errors.Token.Invalid');
      await deleteServiceUser(store, ROBOT).catch(exceptMissing);
      expect(await remainsOf(store)).toEqual([]);
      await restore();
    }
    expect(ends).toBeGreaterThan(5);
  });

  it('stops between two commits when it is interrupted, and is deleted by a repetition', async () => {
    const { store } = await filledInstance();
    const stop = new AbortController();
    let commits = 0;
    const watched = watchedStore(store, () => {
      if (++commits === 2) stop.abort(new Error('interrupted'));
    });
    await expect(deleteServiceUser(watched, ROBOT, { signal: stop.signal })).rejects.toThrow('interrupted');
    expect(commits).toBe(2);
    expect(await remainsOf(store)).not.toEqual([]);
    await deleteServiceUser(store, ROBOT);
    expect(await remainsOf(store)).toEqual([]);
  });
});

describe('an import that meets a service user in deletion', () => {
  it.each(['report', 'skip', 'overwrite'] as const)(
    'reports it as existing under %s, and creates it afterwards',
    async (on_conflict) => {
      const { store, instance } = await filledInstance();
      await expect(
        deleteServiceUser(interruptedStore(store, { commit: 1, when: 'before' }, theProcessEnds), ROBOT),
      ).rejects.toThrow('the process ends');
      const { errors, summary } = await instance.import({ ...newRequest(), on_conflict });
      expect(errors).toContainEqual({
        type: 'machine_user',
        id: ROBOT,
        message: 'ID=COMMAND-k2una Message=Errors.User.AlreadyExisting',
      });
      expect(summary.failed).toMatchObject({ machineUsers: 1, userGrants: 1, userMetadata: 1, orgMembers: 1 });
      expect(summary.unchanged).not.toHaveProperty('machineUsers');
      await deleteServiceUser(store, ROBOT);
      expect(await remainsOf(store)).toEqual([]);
      const again = await instance.import({ ...newRequest(), on_conflict });
      expect(again.summary).toMatchObject({ created: { machineUsers: 1, userGrants: 1, orgMembers: 1 }, failed: {} });
    },
  );
});

describeStores('a service user that is deleted during an import', (kind) => {
  it('is deleted after the import, with all that the import has written for it', async () => {
    const { store, instance } = await filledInstance(kind);
    const { signal } = new AbortController();
    const request = { mode: 'alone', operation: 'service-user delete', caller: 'root', signal } as const;
    let deletion: Promise<void> | undefined;
    const during = hookedStore(store, async () => {
      deletion ??= withLock(store, request, (locked) => deleteServiceUser(locked, ROBOT));
    });
    const member = { userId: ROBOT, roles: ['ORG_OWNER'] };
    const file = { data_orgs: { orgs: [organisation('later', { orgMembers: [member] })] } };
    const { summary } = await servedInstance(during, instance).import(file);
    expect(summary.created).toEqual({ org: 1, orgMembers: 1 });
    await deletion;
    expect(await remainsOf(store)).toEqual([]);
  });
});
