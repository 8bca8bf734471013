import { describe, it } from 'vitest';
import { kills } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { killAll } from './support/killAll.ts';
import { selfHosted } from './support/killable.ts';
import { survived } from './support/survived.ts';

const TIMEOUT = 4 * 3_600_000;

describe(faultTable.killed.fault, () => {
  it(`of identity serve: ${faultTable.killed.outcome}`, { timeout: TIMEOUT }, async (context) => {
    await killAll('SQLite', selfHosted, kills.SQLite);
    survived(context, 'killed', 'SQLite', kills.SQLite);
  });
});
