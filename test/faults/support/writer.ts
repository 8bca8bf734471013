import { createSerialQueue } from '../../../shared/async.ts';
import { readRecord, storedFields } from '../../../shared/organisation/record.ts';
import { createWrites, planRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { Store, Write } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

/** The number of users that exist at a time; each new user replaces the oldest. */
export const USERS = 40;
/** The sum of the accounts of both organisations. */
export const SUM = 1_000;

/** The content before the first change. */
export const content = [
  organisation('left', {
    projects: [{ projectId: 'left-project', project: { name: 'Portal' } }],
    ...account('left', SUM),
  }),
  organisation('right', {
    projects: [{ projectId: 'right-project', project: { name: 'Portal' } }],
    ...account('right', 0),
  }),
];

function account(orgId: string, balance: number): object {
  return { humanUsers: [person(`${orgId}-account`)], userMetadata: [balanceOf(orgId, balance)] };
}

function balanceOf(orgId: string, balance: number): object {
  return { id: `${orgId}-account`, key: 'balance', value: Buffer.from(String(balance)).toString('base64') };
}

function plan(section: string, json: object, orgId: string): RecordPlan {
  return planRecord(readRecord(sectionNamed(section), json, orgId), false);
}

const userOf = (number: number) => plan('humanUsers', person(`user ${number}`), number % 2 === 0 ? 'left' : 'right');
/** A grant in an organisation other than its user's. */
function grantOf(number: number): RecordPlan {
  const [orgId, projectId] = number % 2 === 0 ? ['right', 'right-project'] : ['left', 'left-project'];
  return plan('userGrants', { userId: `user ${number}`, projectId }, orgId);
}

const create = (one: RecordPlan): Write[] => createWrites(one, new Date().toISOString());
const remove = ({ key, claims }: RecordPlan): Write[] =>
  [key, ...claims.map((claim) => claim.key)].map((at): Write => ({ type: 'delete', key: at }));

/** A writer that changes a database. */
export interface Writer {
  /** The number of steps so far. */
  steps(): number;
  step(): Promise<void>;
}

/** Makes one change after another: a user, then its grant; removes a grant, then its user; moves money between accounts. */
export function writerTo(store: Store): Writer {
  const inTurn = createSerialQueue();
  let number = 0;
  const transfer = (orgId: string, balance: number): Write => {
    const { key, record } = plan('userMetadata', balanceOf(orgId, balance), orgId);
    return { type: 'update', key, fields: storedFields(record) };
  };
  return {
    steps: () => number,
    step: () =>
      inTurn(async () => {
        const now = number++;
        await store.commit(create(userOf(now)));
        await store.commit(create(grantOf(now)));
        const right = (now * 7) % SUM;
        await store.commit([transfer('left', SUM - right), transfer('right', right)]);
        if (now < USERS) return;
        await store.commit(remove(grantOf(now - USERS)));
        await store.commit(remove(userOf(now - USERS)));
      }),
  };
}
