import { expect } from 'vitest';
import type { Store } from '../../shared/store/store.ts';
import { readDatabase } from '../support/stores/database.ts';
import { contentOf, modelOf } from './contents.ts';
import type { ModelRecord } from './kinds.ts';
import type { Model } from './model.ts';

/** What an import of a file leaves behind. */
export interface Imported {
  readonly after: Model;
  /** Records as they were between two phases, by their place. */
  readonly between: readonly (readonly [place: string, record: ModelRecord])[];
}

/**
 * Takes over what the database holds after an import of which a part may be done: every record is as it was, as the
 * whole import leaves it, or as it was between two phases.
 */
export async function adopt(model: Model, { after, between }: Imported, store: Store): Promise<void> {
  const actual = modelOf(await readDatabase(store)).records;
  for (const place of new Set([...actual.keys(), ...model.records.keys(), ...after.records.keys()])) {
    const [is, was] = [textOf(actual.get(place)), textOf(model.records.get(place))];
    if (is === was) continue;
    const passed = between.filter(([one]) => one === place).map(([, record]) => record);
    const possible = [after.records.get(place), ...passed];
    const found = possible.findIndex((record) => textOf(record) === is);
    expect(found, `${place} is ${is}, was ${was}, and becomes ${possible.map(textOf)}`).toBeGreaterThanOrEqual(0);
    const record = possible[found];
    if (record === undefined) model.records.delete(place);
    else model.records.set(place, record);
  }
}

function textOf(record: ModelRecord | undefined): string | undefined {
  return record === undefined ? undefined : contentOf(record);
}
