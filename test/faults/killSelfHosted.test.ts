import { describe, it } from 'vitest';
import { repetitions } from '../support/repetitions.ts';
import { faultTable } from './support/faultTable.ts';
import { killAll } from './support/killAll.ts';
import { selfHosted } from './support/killable.ts';
import { survived } from './support/survived.ts';

const KILLS = repetitions({ few: 12, many: 900 });

describe(faultTable.killed.fault, () => {
  it(`of identity serve: ${faultTable.killed.outcome}`, async (context) => {
    await killAll('SQLite', selfHosted, KILLS);
    survived(context, 'killed', 'SQLite', KILLS);
  });
});
