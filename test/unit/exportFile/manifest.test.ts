import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ManifestEntry, ManifestTally, manifestSchema } from '../../../shared/exportFile/manifest.ts';

function tallyOf(entries: readonly ManifestEntry[], organisations = 0): ManifestTally {
  const tally = new ManifestTally();
  for (const entry of entries) tally.add(entry);
  for (let at = 0; at < organisations; at++) tally.addOrganisation();
  return tally;
}

const digestOf = (entries: readonly ManifestEntry[]) => tallyOf(entries).digest;

const section = { name: 'humanUsers' } as const;
const base: ManifestEntry = { section, orgId: 'org-1', digest: 'd1', credentials: {}, otpEmail: false };
const entries: ManifestEntry[] = [
  base,
  { ...base, digest: 'd2', credentials: { passwordHash: 'h', totpSeed: 's' } },
  { ...base, section: { name: 'oidcIdps' }, digest: 'd3', credentials: { clientSecret: 'c' } },
  { ...base, orgId: 'org-2', digest: 'd4', otpEmail: true },
];

const anyEntry = fc.record({
  section: fc.record({ name: fc.constantFrom('humanUsers', 'projects', 'domains') }),
  orgId: fc.string(),
  digest: fc.string(),
  credentials: fc.record({ passwordHash: fc.string(), totpSeed: fc.string() }, { requiredKeys: [] }),
  otpEmail: fc.boolean(),
});

describe("a manifest's digest", () => {
  it('is the sum of the SHA-256 hashes of all records, modulo 2^256', () => {
    fc.assert(
      fc.property(fc.array(anyEntry), (records) => {
        const hashes = records.map(({ section: { name }, orgId, digest, credentials, otpEmail }) => {
          const { passwordHash = '', totpSeed = '' } = credentials;
          return BigInt(
            `0x${hash('sha256', JSON.stringify([name, orgId, digest, passwordHash, totpSeed, '', otpEmail]))}`,
          );
        });
        const sum = BigInt.asUintN(
          256,
          hashes.reduce((total, one) => total + one, 0n),
        );
        expect(digestOf(records)).toBe(`sha256:${sum.toString(16).padStart(64, '0')}`);
      }),
    );
  });

  it.each<[string, Partial<ManifestEntry>]>([
    ['the section', { section: { name: 'machineUsers' } }],
    ['the organisation', { orgId: 'org-3' }],
    ['the record', { digest: 'd5' }],
    ['the password hash', { credentials: { passwordHash: 'x' } }],
    ['the TOTP seed', { credentials: { totpSeed: 'x' } }],
    ['the client secret', { credentials: { clientSecret: 'x' } }],
    ['the OTP e-mail factor', { otpEmail: true }],
    ['an unknown field', { unknown: { fields: ['user.colour'], values: [] } }],
    ['an unknown value', { unknown: { fields: [], values: [{ path: 'user.profile.gender', value: 'GENDER_X' }] } }],
  ])('changes if %s changes', (_what, change) => {
    const changed = entries.map((entry) => (entry === base ? { ...base, ...change } : entry));
    expect(digestOf(changed)).not.toBe(digestOf(entries));
  });
});

describe("a manifest's counts", () => {
  it('are by section, with the organisations', () => {
    expect(tallyOf(entries, 2).counts).toEqual({ humanUsers: 3, oidcIdps: 1, orgs: 2 });
  });

  it('have no section without records', () => {
    expect(tallyOf([]).counts).toEqual({});
  });
});

describe('a manifest', () => {
  const tally = tallyOf(entries, 1);
  const manifest = {
    version: 1,
    instance: 'source',
    readTime: '2026-01-01T00:00:00.000Z',
    counts: tally.counts,
    digest: tally.digest,
  };

  it('is read back as it was written', () => {
    expect(manifestSchema.parse(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest);
  });

  it.each<[string, object]>([
    ['another version', { version: 2 }],
    ['no digest', { digest: undefined }],
    ['a digest of another kind', { digest: 'md5:0' }],
    ['a digest in capitals', { digest: tally.digest.toUpperCase() }],
    ['a truncated digest', { digest: tally.digest.slice(0, -1) }],
    ['a count below zero', { counts: { orgs: -1 } }],
    ['a count that is no whole number', { counts: { orgs: 1.5 } }],
    ['a count that is text', { counts: { orgs: '1' } }],
    ['no counts', { counts: null }],
  ])('with %s is invalid', (_what, change) => {
    expect(manifestSchema.safeParse({ ...manifest, ...change }).success).toBe(false);
  });
});
