import { openStore } from '../../../../shared/store/openStore.ts';

// Appends events, every other one with a document that has its number, and prints each number that is durable, until it
// is killed. Its clock goes back between any two of them.
const [directory = '', name = ''] = process.argv.slice(2);
const store = await openStore({ kind: 'sqlite', directory });
for (let number = 0; ; number++) {
  const event = {
    time: new Date(Date.now() - number * 60_000).toISOString(),
    event: name,
    outcome: 'ok',
    target: `${number}`,
  };
  if (number % 2 === 0) await store.trail?.append(event);
  else
    await store.transaction(async (transaction) => {
      transaction.record(event);
      transaction.write([{ type: 'create', key: { collection: 'users', id: `${name} ${number}` }, fields: {} }]);
    });
  process.stdout.write(`${number}\n`);
}
