import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inspect } from '../../../shared/exportFile/inspection.ts';

const fixture = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8'));
const pinned = z.record(z.string(), z.string()).parse(fixture('manifest-digests.json'));
const file = z.object({ orgs: z.array(z.unknown()) });
const recorded = z.union([
  file,
  z.object({ dataOrgs: file }).transform(({ dataOrgs }) => dataOrgs),
  z.object({ dataOrgsv1: file }).transform(({ dataOrgsv1 }) => dataOrgsv1),
]);

// An import rejects a file whose manifest has another digest, so these digests change only with the form of stored records.
describe('the digest of a file that a ZITADEL has exported or imported', () => {
  it.each(Object.entries(pinned))('is the same as in the manifests of earlier exports: %s', async (name, expected) => {
    const document = recorded.parse(fixture(`zitadel/${name}`));
    async function* open() {
      yield Buffer.from(JSON.stringify(document));
    }
    const { tally } = await inspect({ open, isV1: name.includes('v1') }, new AbortController().signal);
    expect(tally.digest).toBe(expected);
  });
});
