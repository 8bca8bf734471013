import { expect } from 'vitest';
import type { Store } from '../../shared/store/store.ts';
import { readDatabase } from '../support/stores/database.ts';
import { contentOf, modelOf } from './contents.ts';
import type { ModelRecord } from './kinds.ts';
import type { Model } from './model.ts';

/**
 * Takes over what the database holds after an import of which a part may be done: every record is as it was, or as the
 * whole import leaves it.
 */
export async function adopt(model: Model, after: Model, store: Store): Promise<void> {
  const actual = modelOf(await readDatabase(store)).records;
  for (const place of new Set([...actual.keys(), ...model.records.keys(), ...after.records.keys()])) {
    const [is, was] = [textOf(actual.get(place)), textOf(model.records.get(place))];
    if (is === was) continue;
    const record = after.records.get(place);
    expect(textOf(record), `${place} is ${is}, was ${was}`).toBe(is);
    if (record === undefined) model.records.delete(place);
    else model.records.set(place, record);
  }
}

function textOf(record: ModelRecord | undefined): string | undefined {
  return record === undefined ? undefined : contentOf(record);
}
