import { describe, expect, it } from 'vitest';
import { passFile } from '../../../shared/exportFile/filePass.ts';

const CHUNK_BYTES = 50;

function* chunks(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

describe('a pass over a file whose entries are taken', () => {
  it('takes each entry before the end, keeps none, and yields all bytes', async () => {
    const orgIds = Array.from({ length: 20 }, (_, index) => `org-${index}`);
    const orgs = orgIds.map((orgId) => ({ orgId, org: { name: orgId } }));
    const text = JSON.stringify({ orgs: [...orgs, {}] });
    const taken: (string | undefined)[] = [];
    const source = {
      open: async function* () {
        yield* chunks(text);
      },
    };
    const passing = passFile(source, new AbortController().signal, {
      onRecord: () => {},
      onEntry: ({ orgId }) => taken.push(orgId),
    });
    let [passed, mostWaiting] = ['', 0];
    let next = await passing.next();
    for (; next.done !== true; next = await passing.next()) {
      passed += Buffer.from(next.value).toString();
      const started = passed.split('"orgId"').length - 1;
      mostWaiting = Math.max(mostWaiting, started - taken.length);
    }
    expect(passed).toBe(text);
    expect(taken).toEqual([...orgIds, undefined]);
    expect(next.value.drafts).toEqual([]);
    expect(mostWaiting).toBe(1);
  });
});
