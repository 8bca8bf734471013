import { FORMAT } from '../../shared/store/format.ts';
import type { UpgradeRecord } from '../../shared/store/migrations/upgradeRecord.ts';
import { requireMasterKey } from '../../shared/store/openStore.ts';
import { upgrade } from '../../shared/store/upgrade.ts';
import { InterruptedError, type Output, type Run } from '../command.ts';

/** Runs `identity upgrade`. An embedded database has been migrated when it was opened: the result is shown again. */
export const upgradeDatabase: Run = async ({ store, location, signal }) => {
  requireMasterKey(location);
  const onStep = (name: string) => void process.stderr.write(`${name}\n`);
  try {
    return describe(await upgrade(store, { signal, onStep }));
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted: repeat the command, which continues where it stopped');
  }
};

function describe(record: UpgradeRecord | undefined): Output {
  const { from = FORMAT, sharedNames = [], sharedNameCount = 0 } = record ?? {};
  const lines = sharedNames.map(
    ({ orgId, collection, id, holderId }) =>
      `organisation ${orgId}: ${collection}/${id} has the name of ${collection}/${holderId}`,
  );
  const origin = record === undefined ? '' : `, migrated from format ${from}`;
  const advice = `${sharedNameCount} records have names that other records hold: rename them by imports with on_conflict overwrite`;
  return {
    json: { format: FORMAT, from, sharedNameCount, sharedNames },
    text: [`the database has format ${FORMAT}${origin}`, ...(sharedNameCount === 0 ? [] : [advice]), ...lines].join(
      '\n',
    ),
  };
}
