import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importResponse } from '../../../functions/import/contract.ts';
import { identity, identityResult } from '../../support/command.ts';
import { everySection } from '../../support/fixtures/everySection.ts';
import { linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { loggedPlace, type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const LIMIT = 40_000;
const limits = { MAX_RESPONSE_BYTES: String(LIMIT), MAX_REQUEST_BYTES: String(LIMIT) };
const everything = ['--with', 'passwords,otp,keys'];

const crowd = (orgId: string, count: number) =>
  organisation(orgId, {
    userMetadata: Array.from({ length: count }, (_, number) => ({ id: `${orgId} ${number}`, key: 'k', value: 'dg==' })),
    humanUsers: Array.from({ length: count }, (_, number) => person(`${orgId} ${number}`)),
  });

/** Organisations that refer to each other in both directions, and one that alone is larger than a request and a response. */
const orgs = [
  staying,
  everySection('north', ['south', 'crowd']),
  ...linkedOrganisations,
  crowd('crowd', 200),
  everySection('south', ['north']),
  // It has no name, and is not created.
  { orgId: 'nameless', humanUsers: [person('nobody')] },
];

async function fileOf(organisations: readonly object[]): Promise<string> {
  const file = join(await testDirectory(), 'orgs.json');
  await writeFile(file, JSON.stringify({ orgs: organisations, unknown: 1 }));
  return file;
}

const reported = importResponse.pick({ errors: true, summary: true });

const importing = (place: ServedPlace, file: string, ...more: string[]) => [
  'import',
  file,
  '--to',
  place.url,
  '--token-file',
  place.tokenFile,
  ...everything,
  ...more,
];

async function importInto(place: ServedPlace, file: string) {
  return z.object(reported.shape).parse(await identityResult(importing(place, file)));
}

describe('an import into an instance whose requests are limited', () => {
  it('writes what one request writes, and reports the same', async () => {
    const file = await fileOf(orgs);
    const [limited, unlimited] = [await loggedPlace(sqlite, limits), await servedPlace(sqlite)];
    const report = await importInto(limited, file);
    const whole = await importInto(unlimited, file);
    expect(limited.requests().filter((line) => line === '/admin/v1/import 200').length).toBeGreaterThan(2);
    // Policies precede people there.
    const told = ({ summary: { idsOmitted: _, ...summary } }: typeof whole) => ({
      ...summary,
      warnings: summary.warnings.map((warning) => JSON.stringify(warning)).sort(),
    });
    expect(told(report)).toEqual(told(whole));
    expect(report.errors).toEqual(whole.errors);
    const compared = ['compare', limited.database, unlimited.database, ...everything];
    const without = ['--exclude-org', limited.orgId, '--exclude-org', unlimited.orgId];
    expect(await identityResult([...compared, ...without])).toMatchObject({ code: 0, equal: true, expectedCount: 0 });
    const again = await importInto(limited, file);
    expect(again.summary).toMatchObject({ created: {}, unchanged: { org: 7, humanUsers: expect.any(Number) } });
  });

  it('with --new-orgs-only writes new organisations, and nothing if one exists', async () => {
    const place = await servedPlace(sqlite, limits);
    const call = importing(place, await fileOf([crowd('crowd', 200), organisation('new')]), '--new-orgs-only');
    expect(await identityResult(call)).toMatchObject({ code: 0, summary: { created: { org: 2, humanUsers: 200 } } });
    const other = await fileOf([organisation('newer'), crowd('crowd', 200), crowd('newest', 200)]);
    const again = await identity(importing(place, other, '--new-orgs-only'));
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('crowd') });
    const exported = await identity(['export', place.database, '--to', '-', '--org', 'newer']);
    expect(exported).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have newer') });
  });

  it('sends nothing of an invalid file, and of a trial', async () => {
    const place = await loggedPlace(sqlite, limits);
    const invalid = await fileOf([crowd('crowd', 200), organisation('bad', { humanUsers: {} })]);
    const refused = await identity(importing(place, invalid));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('orgs[1].humanUsers') });
    const trial = await identity(importing(place, await fileOf([crowd('crowd', 200)]), '--dry-run'));
    const problem = `the file exceeds the limit of ${place.url}, ${LIMIT} bytes in a request`;
    expect(trial).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
    expect(place.requests().filter((line) => line.startsWith('/admin/v1/import'))).toEqual([]);
    const both = await fileOf([crowd('crowd', 200), crowd('small', 3)]);
    expect(await identityResult(importing(place, both, '--dry-run', '--org', 'small'))).toMatchObject({
      code: 0,
      summary: { dryRun: true, created: { org: 1, humanUsers: 3 }, notCarried: { org: 1, humanUsers: 200 } },
    });
  });

  it('lists invalid records, also one that exceeds the size limit and is in no request', async () => {
    const place = await servedPlace(sqlite, limits);
    const actions = [{ actionId: 'A', action: { name: 'a', script: 'x'.repeat(1_000_001) } }];
    const other = organisation('bad', { humanUsers: [{ userId: 'x' }, person('y')], actions });
    const result = await identityResult(importing(place, await fileOf([crowd('crowd', 200), other])));
    const tooLarge = 'ID=IMPORT-tooLong Message=the record exceeds 1000000 bytes; orgs[1].actions[0]';
    expect(result).toMatchObject({
      code: 3,
      errors: expect.arrayContaining([
        expect.objectContaining({ type: 'human_user', id: 'x', message: expect.stringMatching(/\.user: missing$/) }),
        expect.objectContaining({ type: 'action', message: tooLarge }),
      ]),
      summary: { created: { org: 2, humanUsers: 201 }, failed: { humanUsers: 1, actions: 1 } },
    });
  });

  it('of selected organisations sends these alone', async () => {
    const place = await servedPlace(sqlite, limits);
    const call = importing(place, await fileOf([crowd('a', 200), crowd('b', 200)]), '--org', 'b');
    const summary = { created: { org: 1, humanUsers: 200 }, notCarried: { org: 1, humanUsers: 200 } };
    expect(await identityResult(call)).toMatchObject({ code: 0, summary });
    const missing = await identity([...call, '--org', 'c']);
    expect(missing).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have c') });
  });
});

describe('an export of an instance whose responses are limited', () => {
  it('is whole, and is compared whole', async () => {
    const limited = await servedPlace(sqlite, limits);
    await identity(['import', await fileOf(orgs), '--to', limited.database, ...everything]);
    const file = join(await testDirectory(), 'out.json.gz');
    const options = ['--token-file', limited.tokenFile, ...everything];
    expect(await identityResult(['export', limited.url, '--to', file, ...options])).toMatchObject({ code: 0 });
    const sides = ['compare', file, limited.database, ...everything];
    expect(await identityResult(sides)).toMatchObject({ code: 0, equal: true });
    expect(await identityResult(['compare', file, limited.url, ...options])).toMatchObject({ code: 0, equal: true });
    const form = await identity(['export', limited.url, '--to', `${file}.json`, '--for-zitadel', ...options]);
    expect(form).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('an export in the form for ZITADEL exceeds the limit of '),
    });
  });
});
