import { describe, expect, it } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { uniqueStamp } from '../../../functions/import/stamp.ts';
import { deadlineExceeded, tokenInvalid } from '../../../shared/errors/errors.ts';
import { cancelled } from '../../../shared/errors/httpErrors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importReport } from '../../support/instances/testInstance.ts';
import { countsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
/** People whose passwords take long to hash, and service users, whose commits overtake them. */
const file = [
  organisation('O', {
    humanUsers: names('P', 24).map((userId) => person(userId, { password: 'Secret1!' })),
    machineUsers: names('M', 600).map((userId) => ({ userId, user: { userName: userId, name: userId } })),
  }),
];

function run(store: Store, signal: AbortSignal, cost: number) {
  const source = { open: () => inPieces(Buffer.from(JSON.stringify({ orgs: file }))) };
  const options = { withKeys: false, bcryptCost: cost } as const;
  return importOrganisations(store, source, options, uniqueStamp(new Date()), signal);
}

describe('an import whose first batch is cut off while later ones are committed', () => {
  it.each([
    ['its timeout', deadlineExceeded],
    ['a disconnection', cancelled],
    ['a revoked token', tokenInvalid],
  ])('by %s imports that batch when it is resent', async (_what, reason) => {
    const store = await openTestStore();
    const ended = new AbortController();
    const watched = watchedStore(store, (writes) => {
      if (writes.some(({ key }) => key.collection === 'users')) ended.abort(reason());
    });
    await expect(run(watched, ended.signal, 9)).rejects.toMatchObject({ code: reason().code });
    const stored = countsOf(await readDatabase(store), ['O']);
    expect(stored.humanUsers).toBeUndefined();
    expect(stored.machineUsers).toBeGreaterThan(0);
    const { errors, summary } = importReport.parse(await run(store, new AbortController().signal, 4));
    expect(errors).toBeUndefined();
    expect(summary.created).toMatchObject({ humanUsers: 24 });
    expect(countsOf(await readDatabase(store), ['O'])).toMatchObject({ humanUsers: 24, machineUsers: 600 });
  });
});
