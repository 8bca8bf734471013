import { describe, expect, it } from 'vitest';
import type { MigrationResult } from '../../../../cli/migrate/migrationDocuments.ts';
import { renderReport } from '../../../../cli/report/renderReport.ts';
import { migrationResult, resultOrganisations } from '../../../support/migrationResult.ts';

/** The text of a page without its markup and style. */
function plainText(page: string): string {
  return page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

const HOSTILE = `</title><script>alert('1')</script>"><img src=x onerror=alert(1)>&amp;`;

describe('the report of a migration', () => {
  it('contains without its style the moved records, their verification, and the remaining steps', () => {
    const text = plainText(renderReport(migrationResult()));
    for (const part of [
      'Migration of 24,000 people in 12 organisations',
      'Finished with 10 differences and 1 error: 33,002 records are equal, 2 differ as expected.',
      '2026-11-22 20:00:00 UTC to 2026-11-22 20:02:32 UTC, 2m 32s; identity 1.0.0',
      'From https://zitadel.example.com Kind a ZITADEL instance Instance ZITADEL Digest sha256:4d4d',
      'To https://id.example.com Kind an instance of this service Version 1.0.0 Digest sha256:5e5e',
      'Resumed 1 time, last at 2026-11-22 20:01:24 UTC',
      'people: 24,000 records, 23,990 equal, 8 different, 1 different as expected, 1 in the source only',
      '33,178 created: organisations 12, people 23,998',
      '4 not carried: machine keys 4',
      'Organisation 0 330000000000000 , 3,999 people: 4,000 records',
      'exporting : 33,180 records in 1m 0s, 553/s',
      'importing : 11,000 records in 20s, interrupted',
      '23,498 of 23,500 people with a password have the same password hash, second factors and state on both sides; 500 of 24,000 people have no password in the export.',
      '2 locked in the target, active in the source: bob, eve',
      'person 330000000000000201 (ada) of 330000000000000 (Organisation 0) user.userName : &quot;ada&quot; → &quot;countess&quot;',
      'user.hashedPassword.value : a secret, differs',
      '(ZITADEL adds a domain to each organisation)',
      'person 330000000000000201: exists with other content',
      'Warnings (5)',
      'and 3 more',
      'personal access tokens are in no export',
      'People whom errors and steps by hand are about (1) 330000000000000201 Ada Lovelace, ada@example.com: exists with',
      '400000000000000001 : the default organisation of the source',
    ])
      expect(text).toContain(part);
  });

  it('counts skipped records once, whichever side skipped them', () => {
    const { options, leftOut } = migrationResult();
    const excluded = { orgId: '500', reason: 'excluded by --exclude-org' };
    const given = { options: { ...options, excludedOrgIds: ['500'] }, leftOut: [...leftOut, excluded] };
    const text = plainText(renderReport(migrationResult(given)));
    expect(text).toContain(' Left out 2 Secrets');
    expect(text).toContain(' Left out (2) ');
  });

  it('begins with people and their credentials, followed by the remaining steps, then the differences', () => {
    const text = plainText(renderReport(migrationResult()));
    const parts = [
      '24,000 people in 12',
      '23,498 of 23,500 people',
      'Left to do (',
      'Differences (',
      'From and to',
      'Selected records',
    ];
    const places = parts.map((part) => text.lastIndexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThanOrEqual(0);
  });

  it('states that everything has arrived, and how that was verified', () => {
    const { proof } = migrationResult();
    const done = { errors: [], outcome: 'done' as const };
    const equal = { ...proof, unexpected: 0, expected: 0, differences: [] };
    expect(plainText(renderReport(migrationResult({ ...done, proof: equal })))).toContain(
      'Done: 33,002 records are equal on both sides.',
    );
    const checksum = {
      ...equal,
      method: 'checksum' as const,
      sections: {},
      description: 'the bucket has confirmed 7 bytes',
    };
    const text = plainText(renderReport(migrationResult({ ...done, proof: checksum })));
    expect(text).toContain('Done: all 33,180 records are stored, as the checksum proves.');
    expect(text).toContain('At 2026-11-22 20:02:30 UTC, the bucket has confirmed 7 bytes.');
    expect(text).toContain('people: 24,000 records ');
  });

  it('is one page without scripts, links and external resources', () => {
    const page = renderReport(migrationResult());
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form|a)\b/i);
    expect(page).not.toMatch(/\b(src|href|action|on\w+)=/i);
    expect(page).not.toMatch(/url\(|@import/i);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  it('escapes names, ids and messages', () => {
    const hostile = (key: string, value: unknown) =>
      typeof value === 'string' && key !== 'secondFactors' ? `${HOSTILE}\u202e\u0007` : value;
    const result: MigrationResult = JSON.parse(JSON.stringify(migrationResult()), hostile);
    const { moved } = result;
    const page = renderReport({
      ...result,
      outcome: 'listed',
      moved: { ...moved, exported: { [HOSTILE]: 1 }, imported: undefined },
    });
    expect(page.split(/<script|<img|<\/title><script/i)).toHaveLength(1);
    expect(page.match(/<\/title>/g)).toHaveLength(1);
    for (const character of ['\u0007', '\u202e']) expect(page).not.toContain(character);
    expect(page).toContain('&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&gt;&lt;img');
    expect(page).toContain('&amp;amp;');
  });

  it('stays small with many organisations, errors and phases', () => {
    const many = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
    const { phases, errors, leftOut } = migrationResult();
    const [first] = phases;
    const [changed, ...equal] = resultOrganisations(10_000).toReversed();
    const after = { absent: 1, equal: 1, different: 0, differentAsExpected: 0, onlyTarget: 0 };
    const page = renderReport(
      migrationResult({
        organisations: changed === undefined ? equal : [...equal, { ...changed, after }],
        organisationsOmitted: 5_000,
        errors: many(10_000, errors[0] ?? { type: '', message: '' }),
        errorsOmitted: 7,
        leftOut: many(3_000, leftOut[0] ?? { orgId: '', reason: '' }),
        phases: first === undefined ? [] : many(200, first),
      }),
    );
    expect(Buffer.byteLength(page)).toBeLessThan(500_000);
    const text = plainText(page);
    expect(text).toContain('Organisations (15,000)');
    expect(text).toContain('and 14,950 more');
    // The organisation that differs is shown, though it is the smallest.
    expect(text).toContain('Organisation 9999 ');
    expect(text).toContain('Errors (10,007)');
    expect(text).toContain('and 9,907 more');
    expect(text).toContain('160 earlier attempts are not shown');
  });
});
