import { openStore } from '../../../../shared/store/openStore.ts';
import type { Write } from '../../../../shared/store/store.ts';
import { createUser } from '../../../support/stores/documents.ts';

// Runs as a separate process: `commitForever.ts DIRECTORY NAME [COMMITS]`. Commits groups of 50 documents into the database
// of DIRECTORY and prints each group's number once it is committed.

const [directory = '', name = '', commits = 'Infinity'] = process.argv.slice(2);
const store = await openStore({ kind: 'sqlite', directory });
for (let sequence = 0; sequence < Number(commits); sequence += 1) {
  const group = Array.from(
    { length: 50 },
    (_, index): Write =>
      createUser(`${name} ${sequence} ${index}`, { partition: name, sequence, body: 'x'.repeat(500) }),
  );
  await store.commit(group);
  process.stdout.write(`${sequence}\n`);
}
await store.close();
