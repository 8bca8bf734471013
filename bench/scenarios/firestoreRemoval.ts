import { setImmediate } from 'node:timers/promises';
import { removeOtpEmail } from '../../functions/removeOtpEmail/operation.ts';
import { Audit } from '../../shared/audit/audit.ts';
import { type Caller, userKey } from '../../shared/auth/authorise.ts';
import { connect, documentName, encodeFields } from '../../shared/store/firestore/connection.ts';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { quantile } from '../clients/keepAliveClient.ts';
import type { Figures, Scenario } from '../measure.ts';
import { ORGANISATION, sampleId, writeSampleFile } from '../tasks/sample.ts';
import { type Location, runTask } from '../tasks/task.ts';
import { onStore } from './places.ts';

/** The users of a round: the operation removes the factor of every second one. */
const USERS = 2_000;

type RemoveOne = (userId: string) => Promise<unknown>;

/** Removes factors of users in Firestore by the operation and by a raw read and write, one after the other. */
export const firestoreRemoval: Scenario = {
  prepare: onStore('firestore', async (bench, places) => {
    const location = places.create('removal');
    const store = bench.resources.adopt(await openStore(location), (opened) => opened.close());
    const product = removeByOperation(store);
    const raw = removeRaw(location);
    let rounds = 0;
    const round = async () => {
      const skipped = rounds++;
      const file = await writeSampleFile(bench.path('factors.json'), { users: USERS, skipped, withOtpEmail: true });
      await runTask({ name: 'import', users: USERS, file, location });
      return removeAlternately(product, raw, skipped * USERS);
    };
    // The first calls compile the client's code.
    await round();
    return round;
  }),
};

async function removeAlternately(product: RemoveOne, raw: RemoveOne, first: number): Promise<Figures> {
  const times: { product: number[]; raw: number[] } = { product: [], raw: [] };
  for (let number = first; number < first + USERS; number += 2) {
    times.product.push(await timed(product, number));
    times.raw.push(await timed(raw, number + 1));
  }
  return {
    medianRatio: quantile(times.product, 0.5) / quantile(times.raw, 0.5),
    p99Ratio: quantile(times.product, 0.99) / quantile(times.raw, 0.99),
    median: quantile(times.product, 0.5),
    rawMedian: quantile(times.raw, 0.5),
    p99: quantile(times.product, 0.99),
    rawP99: quantile(times.raw, 0.99),
  };
}

async function timed(remove: RemoveOne, number: number): Promise<number> {
  await setImmediate();
  const begin = performance.now();
  await remove(sampleId(number));
  return performance.now() - begin;
}

/** Returns the operation, called by the user: a caller with a role costs one read more, which the raw call has not. */
function removeByOperation(store: Store): RemoveOne {
  const audit = new Audit({ append: async () => {}, close: async () => {} });
  return (userId) => {
    const caller: Caller = { userId, tokenId: 'bench', orgId: ORGANISATION, partition: '' };
    return removeOtpEmail(store, caller, userId, new Date(), audit.call('otp-email', {}));
  };
}

/** Returns a raw read of the same fields, and a write on the condition that the document has not changed since. */
function removeRaw(location: Location): RemoveOne {
  if (location.kind !== 'firestore') throw new Error('the location is no Firestore database');
  const connection = connect(location, process.env.FIRESTORE_EMULATOR_HOST);
  const { client, database, options } = connection;
  const mask = { fieldPaths: ['orgId', 'otpEmail', 'sequence', 'createdAt'] };
  return async (userId) => {
    const name = documentName(connection, userKey(userId));
    const [{ updateTime, fields }] = await client.getDocument({ name, mask }, options);
    if (fields?.otpEmail?.booleanValue !== true) throw new Error(`${name} has no factor`);
    const changed = { sequence: 2, changedAt: new Date().toISOString() };
    const update = { name, fields: encodeFields(changed) };
    const updateMask = { fieldPaths: ['otpEmail', ...Object.keys(changed)] };
    await client.commit(
      { database, writes: [{ update, updateMask, currentDocument: { updateTime: updateTime ?? null } }] },
      options,
    );
  };
}
