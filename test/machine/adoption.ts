import { expect } from 'vitest';
import type { Store } from '../../shared/store/store.ts';
import { readDatabase } from '../support/stores/database.ts';
import { contentOf, modelOf } from './contents.ts';
import type { ModelRecord } from './kinds.ts';
import type { Model } from './model.ts';

/**
 * Adopts the content of the database after an import that may be done in part: every record is unchanged, or as after the
 * whole import.
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
