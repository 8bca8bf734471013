import { describe, expect, it } from 'vitest';
import { costRows, noteCost } from './costs/costTable.ts';
import { measureCost } from './costs/measureCost.ts';
import { startAbusedSqlite } from './support/abusedServer.ts';

describe('the dearest requests', () => {
  it.for(costRows)('of $caller cost no more than their row says: $request', async (row, context) => {
    const server = await startAbusedSqlite();
    const send = await row.prepare(server);
    const cost = await measureCost(server, row.times, send);
    noteCost(context, { request: row.request, cost });
    expect(cost.removals).toBeLessThan(row.most.removals);
    expect(cost.memoryBytes).toBeLessThan(row.most.memoryBytes);
    expect(cost.diskBytes).toBeLessThanOrEqual(row.most.diskBytes);
  });
});
