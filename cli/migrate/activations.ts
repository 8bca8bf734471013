import { BoundedList } from '../../shared/collections/boundedList.ts';
import { stateWord } from '../../shared/errors/nouns.ts';
import { warn } from '../../shared/errors/warnings.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { isClosed } from '../../shared/organisation/states.ts';
import type { RunDatabase } from '../records/runDatabase.ts';
import { closables } from '../zitadel/import/closable.ts';
import { MAX_LISTED } from './migrationTypes.ts';

const sectionsWithStates = closables.flatMap(({ sections }) => sections);

/** Lists the records that are active in the target although they are deactivated or locked in the source. */
export async function listActivations(
  database: Pick<RunDatabase, 'pairs'>,
  signal: AbortSignal,
): Promise<BoundedList<CountedEntry>> {
  const activations = new BoundedList<CountedEntry>(MAX_LISTED);
  for await (const { section: name, id, first, second } of database.pairs(signal, sectionsWithStates)) {
    if (second === undefined) continue;
    const states = [first.state?.value, second.state?.value] as const;
    if (!isClosed(states[0]) || isClosed(states[1])) continue;
    const [source = '', now = ''] = states.map((state = '') => stateWord(state));
    const remedy = source === 'locked' ? 'lock' : 'deactivate';
    activations.add({ type: recordSection(name).error.type, id, ...warn('access_given', { now, source, remedy }) });
  }
  return activations;
}
