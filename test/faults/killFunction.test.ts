import { it } from 'vitest';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { repetitions } from '../support/repetitions.ts';
import { faultTable } from './support/faultTable.ts';
import { killAll } from './support/killAll.ts';
import { cloudFunction } from './support/killable.ts';
import { survived } from './support/survived.ts';

const KILLS = repetitions({ few: 6, many: 100 });

describeWithFirestore(faultTable.killed.fault, () => {
  it(`of the import function: ${faultTable.killed.outcome}`, async (context) => {
    await killAll('Firestore', cloudFunction, KILLS);
    survived(context, 'killed', 'Firestore', KILLS);
  });
});
