import { join } from 'node:path';
import { expect, it } from 'vitest';
import { enableOtpEmail } from '../../../shared/accounts/userAccounts.ts';
import { userKey } from '../../../shared/store/documentKeys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { root } from '../../../tools/program.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, type StoreKind, setUpOnce, sqlite } from '../../support/stores/stores.ts';
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
  callers: typeof allCallers,
  columns: readonly Column[],
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

/** The columns over the first interface of each operation. */
const firstColumns = columns.filter(({ over = 0 }) => over === 0);
/** A caller for each different row of expected outcomes. */
const differentCallers = [
  ...Map.groupBy(allCallers, ({ holding, kind }) =>
    columns.map(({ call }) => expectedVerdict(holding, kind, call)).join(),
  ).values(),
].flatMap(([first]) => first ?? []);

async function tryOnNewInstance(kind: StoreKind, callers: typeof allCallers, tried: readonly Column[]) {
  const store = await openTestStore(kind);
  const rows = await tryAll(store, await testInstance(store), callers, tried);
  expect(rows).toHaveLength(callers.length);
  expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([tried.length]));
  expect(differences(rows.flat())).toEqual([]);
  expect(await factorsOfLanes(store)).toEqual(new Set([true]));
  return rows;
}

it('the authorisation of calls follows the specification for every role, kind of token, operation, user and organisation', async () => {
  const rows = await tryOnNewInstance(sqlite, allCallers, firstColumns);
  await expect(renderMatrix(rows)).toMatchFileSnapshot(join(root, 'test/fixtures/authorisation-matrix.txt'));
});

describeStores('the authorisation of calls', (kind) => {
  it('follows the specification over every interface, for each caller with other permissions', async () => {
    // A database decides nothing by an interface, and Firestore's emulator is slow.
    await tryOnNewInstance(kind, differentCallers, kind === sqlite ? columns : firstColumns);
  });

  const call = setUpOnce(async () => startCallers(await openTestStore(kind)));

  it.each(callerRows)('depends on the caller, in every operation over every interface: $name', async (row) => {
    for (const answer of await call()(row))
      expect(answer).toEqual({ title: answer.title, ...expectedAnswer(row, answer.title) });
  });
});
