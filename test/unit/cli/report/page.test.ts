import { describe, expect, it } from 'vitest';
import { resultBlocks } from '../../../../cli/migrate/migrationBlocks.ts';
import type { MigrationResult } from '../../../../cli/migrate/migrationTypes.ts';
import { blockJson } from '../../../../cli/report/blocks.ts';
import { renderPage } from '../../../../cli/report/page.ts';
import { migrationResult, resultOrganisations } from '../../../support/migrationResult.ts';

function pageOf(given: Partial<MigrationResult> = {}): string {
  return renderPage('Migration', resultBlocks(migrationResult(given)));
}

/** The text of a page without its markup and style. */
function plainText(page: string): string {
  return page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
}

const HOSTILE = `</title><script>alert('1')</script>"><img src=x onerror=alert(1)>&amp;`;

describe('the page of a migration', () => {
  it('contains without its style what the terminal and the JSON have', () => {
    const text = plainText(pageOf());
    for (const part of [
      'Finished with 10 differences and 1 error',
      'people: 24,000 records, 23,990 equal, 8 different, 1 different as expected, 1 in the source only, 2 in the target only',
      'created: organisations 12, people 23,998',
      'not carried: machine keys 4',
      '(Organisation 0): 4,000 records, 3,999 people: 4,000 equal',
      'exporting: 33,180 records in 1m 0s, 553/s',
      '23,498 of 23,500 people with a password have the same password hash, second factors and state on both sides; 500 of 24,000 people have no password in the export',
      '2 locked in the target, active in the source: bob, eve',
      'person 330000000000000201 (ada) of 330000000000000 (Organisation 0): user.userName: &quot;ada&quot; | &quot;countess&quot;',
      'user.hashedPassword.value: a secret, differs',
      '(ZITADEL adds a domain to each organisation)',
      'person 330000000000000201: exists with other content',
      'and 3 more',
      'no export contains personal access tokens',
      '330000000000000201 (Ada Lovelace), ada@example.com: exists with other content',
      '400000000000000001: the default organisation of the source',
      'To undo the migration 330000000000000 (Organisation 0) existed when this run began: delete it only if an earlier, interrupted run created it',
    ])
      expect(text).toContain(part);
    expect(blockJson(resultBlocks(migrationResult()))).toEqual(migrationResult());
  });

  it('has a picture of the records by outcome, and of the people by their needs', () => {
    const page = pageOf();
    const text = plainText(page);
    expect(text).toContain('people 23,998 created, 1 unchanged, 1 failed');
    expect(text).toContain('need no new credential 23,498 people locked in the target, active in the source 2 people');
    expect(text).toContain('without a password in the export 500 people');
    // Of 24,000 people, the longest bar of the section.
    expect(page).toContain('<span class="bad" style="width:0.00%" title="1 failed"></span>');
    expect(page).toContain('<span class="good" style="width:99.99%" title="23,998 created"></span>');
  });

  it('lists everybody in full', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `person-${index}`);
    const people = migrationResult().people.flatMap((one) => ids.map((id) => ({ ...one, id })));
    const errors = ids.map((id) => ({ type: 'human_user', id, message: 'is refused' }));
    const page = pageOf({ people, errors });
    for (const id of ids) expect(page).toContain(`<li>${id} (Ada Lovelace), ada@example.com`);
    expect(page.match(/person person-\d+: is refused/g)).toHaveLength(5_000);
    const organisations = resultOrganisations(1_000);
    expect(pageOf({ organisations }).match(/\(Organisation \d+\)/g)?.length).toBeGreaterThanOrEqual(1_000);
  });

  it('has the number of what a list omits, and every organisation only in the target', () => {
    const { proof } = migrationResult();
    const step = { type: 'human_user', id: 'ada', reason: 'a_step', message: 'add the factor again', further: 41 };
    const others = Array.from({ length: 150 }, (_, index) => ({ orgId: `other-${index}`, name: `Tenant ${index}` }));
    const given = { proof: { ...proof, others, differencesOmitted: 4_900 }, leftToDo: [step], errorsOmitted: 7 };
    const text = plainText(pageOf(given));
    expect(text).toContain('person ada: add the factor again (and 41 more)');
    expect(text).toContain('and 4,900 more');
    expect(text).toContain('the people whom 7 further errors or manual steps concern are unknown');
    expect(text.match(/other-\d+ \(Tenant \d+\)/g)).toHaveLength(150);
  });

  it('is one page without scripts, links and external resources', () => {
    const page = pageOf();
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form|a)\b/i);
    expect(page).not.toMatch(/\b(src|href|action|on\w+)=/i);
    expect(page).not.toMatch(/url\(|@import/i);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  it('has only items in its lists, also for commands', () => {
    const page = pageOf();
    expect(page).toContain('<pre>');
    for (const [, content = ''] of page.matchAll(/<ul>([\s\S]*?)<\/ul>/g))
      expect(content.replace(/<li[ >][\s\S]*?<\/li>/g, '').trim()).toBe('');
  });

  it('escapes names, ids and messages', () => {
    const hostile = (key: string, value: unknown) =>
      typeof value === 'string' && key !== 'secondFactors' ? `${HOSTILE}\u202e\u0007` : value;
    const result: MigrationResult = JSON.parse(JSON.stringify(migrationResult()), hostile);
    const { imported: _, ...moved } = result.moved;
    const page = renderPage(HOSTILE, resultBlocks({ ...result, moved: { ...moved, exported: { [HOSTILE]: 1 } } }));
    expect(page.split(/<script|<img|<\/title><script/i)).toHaveLength(1);
    expect(page.match(/<\/title>/g)).toHaveLength(1);
    for (const character of ['\u0007', '\u202e']) expect(page).not.toContain(character);
    expect(page).toContain('&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&gt;&lt;img');
    expect(page).toContain('&amp;amp;');
  });
});
