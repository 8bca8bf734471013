import { BoundedList } from '../../shared/collections/boundedList.ts';
import type { RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import type { ComparedPair, PairVisitor } from '../../shared/exportFile/comparison.ts';
import type { CountedEntry } from '../../shared/exportFile/leftToDo.ts';
import { activationRemedy, isClosed } from '../../shared/exportFile/leftToDoRules.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/sections.ts';
import { stateWord } from '../serverMessages.ts';

/** The number of organisations and users that a result lists. */
const MAX_ACTIVATIONS = 10_000;

/** A list of the organisations and users that have access in the target, but not in the source. */
export class Activations implements PairVisitor {
  private readonly found = new BoundedList<CountedEntry>(MAX_ACTIVATIONS);

  addPair({ section, id, first, second }: ComparedPair): void {
    if (second === undefined) return;
    const states = [stateOf(first), stateOf(second)] as const;
    const remedy = activationRemedy(section, states[0]);
    if (remedy === undefined || isClosed(states[1])) return;
    const { type } = recordSection(section).error;
    const [source, target] = states.map(stateWord);
    const message = `${target} in the target, ${source} in the source: ${remedy} there`;
    this.found.add({ type, id, reason: 'access_given', message });
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

function stateOf({ body }: RecordContent): string {
  const record = parseObject(body);
  return textAt(record, 'state', '') || textAt(record, 'orgState', '');
}
