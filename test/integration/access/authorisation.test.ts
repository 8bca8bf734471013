import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enableOtpEmail } from '../../../shared/accounts/users.ts';
import { userKey } from '../../../shared/auth/authorise.ts';
import type { Store } from '../../../shared/store/store.ts';
import { root } from '../../../tools/program.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, setUpOnce } from '../../support/stores/stores.ts';
import { allCallers, type CallerRow, createCallers, usersOfLane } from './authorisation/callers.ts';
import { type Column, columns, type Ids, send, verdictOf } from './authorisation/calls.ts';
import { expectedVerdict, type Verdict } from './authorisation/expectation.ts';
import { renderMatrix } from './authorisation/rendering.ts';
import { callerRows, expectedAnswer, startCallers } from './authorisation/states.ts';

/** Callers whose calls run at the same time, each lane with separate users. */
const LANES = 12;

/** A cell of the matrix, and the outcome of its call. */
interface Cell {
  readonly row: CallerRow;
  readonly column: Column;
  readonly verdict: Verdict;
}

/** Makes a cell's call. A removed factor is enabled again, which fails if it was not removed. */
async function tryCell(store: Store, { app }: TestInstance, row: CallerRow, column: Column, ids: Ids): Promise<Cell> {
  const answer = await send(app, row.token, column, ids);
  const verdict = verdictOf(answer);
  if (verdict === undefined) throw new Error(`unexpected answer to ${row.kind.name}: ${JSON.stringify(answer)}`);
  const { call } = column;
  if (verdict === 'done' && call.operation === 'removal') await enableOtpEmail(store, ids.users[call.user], new Date());
  return { row, column, verdict };
}

/** Makes the calls of all columns for some callers: in lanes side by side, in each lane one after the other. */
async function tryAll(
  store: Store,
  instance: TestInstance,
  { callers, columns }: typeof all,
): Promise<readonly Cell[][]> {
  const rows = await createCallers(store, instance, callers, LANES);
  const named = (orgId: string) => ({ orgId, name: `Organisation ${orgId}` });
  const cells = rows.map((): Cell[] => []);
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (const [index, row] of rows.entries()) {
      if (index % LANES !== lane) continue;
      const users = { ...usersOfLane(lane), self: row.userId, nobody: 'nobody' };
      const orgs = { own: named('own'), other: named('other'), default: { orgId: instance.orgId, name: 'test' } };
      for (const column of columns) cells[index]?.push(await tryCell(store, instance, row, column, { users, orgs }));
    }
  });
  await Promise.all(lanes);
  return cells;
}

/** The cells whose calls did not end as specified. */
function differences(cells: readonly Cell[]) {
  return cells.flatMap(({ row: { holding, kind }, column: { title, call }, verdict }) => {
    const expected = expectedVerdict(holding, kind, call);
    return verdict === expected ? [] : [{ token: kind.name, ...holding, title, ...call, expected, verdict }];
  });
}

async function factorsOfLanes(store: Store) {
  const ids = Array.from({ length: LANES }, (_, lane) => Object.values(usersOfLane(lane))).flat();
  const users = await store.getMany(
    ids.map((id) => userKey(id)),
    ['otpEmail'],
  );
  return new Set(users.map((user) => user?.otpEmail));
}

const all = { callers: allCallers, columns };

/** A caller for each different row of expected outcomes, with its calls over the first interface. */
const different = {
  callers: [
    ...Map.groupBy(allCallers, ({ holding, kind }) =>
      columns.map(({ call }) => expectedVerdict(holding, kind, call)).join(),
    ).values(),
  ].flatMap(([first]) => first ?? []),
  columns: columns.filter(({ over = 0 }) => over === 0),
};

describeStores('the authorisation of calls', (kind) => {
  // A database decides nothing by a role's name or an interface, and Firestore's emulator is slow.
  const tried = kind.name === 'SQLite' ? all : different;

  it('follows the specification for every role, kind of token, operation, interface, user and organisation', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    const cells = await tryAll(store, instance, tried);
    expect(cells).toHaveLength(tried.callers.length);
    expect(new Set(cells.map(({ length }) => length))).toEqual(new Set([tried.columns.length]));
    expect(differences(cells.flat())).toEqual([]);
    expect(await factorsOfLanes(store)).toEqual(new Set([true]));
    if (tried === all)
      await expect(renderMatrix(cells)).toMatchFileSnapshot(join(root, 'test/fixtures/authorisation-matrix.txt'));
  });

  const call = setUpOnce(async () => startCallers(await openTestStore(kind)));

  it.each(callerRows)('depends on the caller, in every operation over every interface: $name', async (row) => {
    for (const answer of await call()(row))
      expect(answer).toEqual({ title: answer.title, ...expectedAnswer(row, answer.title) });
  });
});
