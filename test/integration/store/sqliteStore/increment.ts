import { openStore } from '../../../../shared/store/openStore.ts';
import { userKey } from '../../../support/stores/documents.ts';

// Runs as a separate process: `increment.ts DIRECTORY TIMES`. Increments the user `counter` in transactions.

const [directory = '', times = ''] = process.argv.slice(2);
const store = await openStore({ kind: 'sqlite', directory });
const key = userKey('counter');
for (let time = 0; time < Number(times); time++) {
  await store.transaction(async ({ getMany, write }) => {
    const [counter] = await getMany([key], ['sequence']);
    write([{ type: 'update', key, fields: { sequence: (counter?.sequence ?? 0) + 1 } }]);
  });
}
await store.close();
