import { documentId } from '../store.ts';
import type { MigrationStep } from './migration.ts';

/** The documents that the imports of version 0.1.0 shared for their checkpoints. */
const places: ReadonlySet<string> = new Set(
  Array.from({ length: 16 }, (_, place) => documentId('checkpoint', String(place))),
);

/** Deletes the checkpoints of version 0.1.0, which no later version resumes from. */
export const deleteSharedCheckpoints: MigrationStep = {
  name: '2: shared checkpoints',
  collection: 'instance',
  fields: [],
  dependencies: () => [],
  migrate: ({ id }, batch) => {
    if (places.has(id)) batch.delete({ collection: 'instance', id });
    return undefined;
  },
};
