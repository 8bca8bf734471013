import { BoundedList } from '../../shared/collections/boundedList.ts';
import { warn } from '../../shared/errors/warnings.ts';
import type { RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import type { ComparedPair, PairVisitor } from '../../shared/exportFile/comparison.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { type Section, usualState } from '../../shared/organisation/section.ts';
import { recordSection } from '../../shared/organisation/sections.ts';
import { isClosed } from '../../shared/organisation/states.ts';
import { stateWord } from '../serverMessages.ts';

/** The number of records that a result lists. */
const MAX_ACTIVATIONS = 10_000;

/** A list of the records that are open in the target, and deactivated or locked in the source. */
export class Activations implements PairVisitor {
  private readonly found = new BoundedList<CountedEntry>(MAX_ACTIVATIONS);

  addPair({ section: name, id, first, second }: ComparedPair): void {
    if (second === undefined) return;
    const section = recordSection(name);
    const states = [stateOf(section, first), stateOf(section, second)] as const;
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

function stateOf(section: Section, { body }: RecordContent): string | undefined {
  const record = parseObject(body);
  return textAt(record, 'state', '') || textAt(record, 'orgState', '') || usualState(section);
}
