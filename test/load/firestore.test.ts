import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it, vi } from 'vitest';
import { emulatorMasterKey } from '../support/emulators/emulatorDatabase.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { testLoad } from './support/testLoad.ts';

describeWithFirestore('a server under mixed load on Firestore', () => {
  beforeAll(() => void vi.stubEnv('IDENTITY_MASTER_KEY', emulatorMasterKey));
  afterAll(() => void vi.unstubAllEnvs());

  it('answers every request as asked, and neither grows nor leaves anything open', async (context) => {
    await testLoad(context, 'Firestore', ['--firestore', `load-${randomUUID()}`]);
  });
});
