import { fieldNames } from './documentFields.ts';
import { MAX_COMMIT_BYTES, type Write } from './store.ts';

// Callers count roughly, so they get some room before the emulator's limit of 4 MiB, above which a commit never ends.
const REFUSED_ABOVE_BYTES = MAX_COMMIT_BYTES * 1.3;
// The path before the document id, the precondition, and the tags and lengths of the messages around them.
const BYTES_PER_WRITE = 150;
const BYTES_PER_FIELD = 24;

/**
 * Refuses a commit that some implementation of the store could not take: whoever builds commits keeps them small.
 * @throws Error when the writes are larger than a commit may be
 */
export function checkCommitSize(writes: readonly Write[]): void {
  const size = writes.reduce((sum, write) => sum + weigh(write), 0);
  if (size <= REFUSED_ABOVE_BYTES) return;
  throw new Error(
    `a commit of ${writes.length} writes and ${size} bytes: at most ${MAX_COMMIT_BYTES} bytes may be given`,
  );
}

function weigh(write: Write): number {
  const size = BYTES_PER_WRITE + Buffer.byteLength(write.key.id);
  return write.type === 'delete' ? size : size + weighFields(write.fields);
}

function weighFields(fields: Extract<Write, { type: 'update' }>['fields']): number {
  let size = 0;
  for (const name of fieldNames) {
    const value = fields[name];
    if (value !== undefined) size += BYTES_PER_FIELD + (typeof value === 'string' ? Buffer.byteLength(value) : 8);
  }
  return size;
}
