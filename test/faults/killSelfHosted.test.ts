import { describe, it } from 'vitest';
import { kills } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { killAll } from './support/killAll.ts';
import { selfHosted } from './support/killable.ts';
import { survived } from './support/survived.ts';

describe(faultTable.killed.fault, () => {
  it(`of identity serve: ${faultTable.killed.outcome}`, async (context) => {
    await killAll('SQLite', selfHosted, kills.SQLite);
    survived(context, 'killed', 'SQLite', kills.SQLite);
  });
});
