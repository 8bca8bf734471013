import { it } from 'vitest';
import { describeWithFirestore } from '../support/withFirestore.ts';
import { kills } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { killAll } from './support/killAll.ts';
import { cloudFunction } from './support/killable.ts';
import { survived } from './support/survived.ts';

describeWithFirestore(faultTable.killed.fault, () => {
  it(`of the import function: ${faultTable.killed.outcome}`, async (context) => {
    await killAll('Firestore', cloudFunction, kills.Firestore);
    survived(context, 'killed', 'Firestore', kills.Firestore);
  });
});
