import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { changedParts, planDigest } from '../../../../cli/migrate/planDigest.ts';

const shown = {
  source: 'sha256:1',
  target: 'sha256:2',
  options: { onConflict: 'report' },
  plan: { organisations: [{ orgId: 'a' }, { orgId: 'b' }] },
};

describe('the digest of a dry run', () => {
  it('lists what has changed: the plan only if nothing else has', async () => {
    const digest = await planDigest(shown);
    const changed = (changes: Partial<typeof shown>) => changedParts(digest, { ...shown, ...changes }, 'call');
    expect(await changed({})).toEqual([]);
    const plan = { organisations: [] };
    expect(await changed({ source: 'sha256:3', plan })).toEqual(['source']);
    expect(await changed({ target: 'sha256:3' })).toEqual(['target']);
    expect(await changed({ source: '3', target: '3', plan })).toEqual(['source', 'target']);
    expect(await changed({ options: { onConflict: 'skip' }, plan })).toEqual(['options']);
    expect(await changed({ plan })).toEqual(['plan']);
  });

  it('lists the options alone if they select other records, and a file alone if it selects other secrets', async () => {
    const digest = await planDigest(shown);
    const changes = { ...shown, source: '3', options: { onConflict: 'skip' } };
    expect(await changedParts(digest, changes, 'call')).toEqual(['options']);
    expect(await changedParts(digest, changes, 'file')).toEqual(['source']);
  });

  it('does not depend on the order in which places return lists and fields', async () => {
    const digest = await planDigest({ ...shown, plan: { x: [{ a: 1, b: 2 }, { a: 3 }], y: 1 } });
    const changed = (plan: object) => changedParts(digest, { ...shown, plan }, 'call');
    expect(await changed({ y: 1, x: [{ a: 3 }, { b: 2, a: 1 }] })).toEqual([]);
    expect(await changed({ y: 1, x: [{ a: 3 }, { b: 3, a: 1 }] })).toEqual(['plan']);
  });

  it('is salted, so that no table of hashes has it', async () => {
    const [first, second] = [await planDigest(shown), await planDigest(shown)];
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    const parts = (digest: string) => [digest.slice(0, 16), ...(digest.slice(16).match(/.{12}/g) ?? [])];
    for (const [index, part] of parts(first).entries()) expect(part).not.toBe(parts(second)[index]);
    const plain = createHash('sha256').update(shown.source).digest('hex');
    for (const part of parts(first)) expect(plain).not.toContain(part);
  });
});
