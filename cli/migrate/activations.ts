import { BoundedList } from '../../shared/collections/boundedList.ts';
import { warn } from '../../shared/errors/warnings.ts';
import type { ComparedPair, PairVisitor } from '../../shared/exportFile/comparison.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { recordSection } from '../../shared/organisation/sections.ts';
import { isClosed } from '../../shared/organisation/states.ts';
import { stateWord } from '../terminal/nouns.ts';
import { MAX_LISTED } from './migrationTypes.ts';

/** A list of the records that are open in the target, and deactivated or locked in the source. */
export class Activations implements PairVisitor {
  private readonly found = new BoundedList<CountedEntry>(MAX_LISTED);

  addPair({ section: name, id, first, second }: ComparedPair): void {
    if (second === undefined) return;
    const section = recordSection(name);
    const states = [first.state?.value, second.state?.value] as const;
    if (!isClosed(states[0]) || isClosed(states[1])) return;
    const [source = '', now = ''] = states.map((state = '') => stateWord(state));
    const remedy = source === 'locked' ? 'lock' : 'deactivate';
    this.found.add({ type: section.error.type, id, ...warn('access_given', { now, source, remedy }) });
  }

  reset(): void {
    this.found.clear();
  }

  get entries(): readonly CountedEntry[] {
    return this.found.entries;
  }

  get omitted(): number {
    return this.found.omitted;
  }
}
