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
    expect(await changedParts(digest, shown)).toEqual([]);
    const plan = { organisations: [] };
    expect(await changedParts(digest, { ...shown, source: 'sha256:3', plan })).toEqual(['source']);
    expect(await changedParts(digest, { ...shown, target: 'sha256:3' })).toEqual(['target']);
    expect(await changedParts(digest, { ...shown, source: '3', target: '3', plan })).toEqual(['source', 'target']);
    expect(await changedParts(digest, { ...shown, options: {}, plan })).toEqual(['options']);
    expect(await changedParts(digest, { ...shown, target: '3', options: {} })).toEqual(['target', 'options']);
    expect(await changedParts(digest, { ...shown, source: '3', options: {} })).toEqual(['source']);
    expect(await changedParts(digest, { ...shown, plan })).toEqual(['plan']);
  });

  it('does not depend on the order in which places return lists and fields', async () => {
    const digest = await planDigest({ ...shown, plan: { x: [{ a: 1, b: 2 }, { a: 3 }], y: 1 } });
    expect(await changedParts(digest, { ...shown, plan: { y: 1, x: [{ a: 3 }, { b: 2, a: 1 }] } })).toEqual([]);
    expect(await changedParts(digest, { ...shown, plan: { y: 1, x: [{ a: 3 }, { b: 3, a: 1 }] } })).toEqual(['plan']);
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
