import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importResponse } from '../../../functions/import/contract.ts';
import { call, calling, identity, identityResult } from '../../support/command.ts';
import { everySection } from '../../support/fixtures/everySection.ts';
import { linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type ServedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import {
  type TransferBucket,
  type TransferPlace,
  transferBucket,
  transferPlace,
} from '../../support/places/transferPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const LIMIT = 40_000;
const limits = { responseBytes: LIMIT, requestBytes: LIMIT };
const everything = ['--with', 'passwords,otp,keys'];

const crowd = (orgId: string, count: number, user = (_number: number): object => ({})) =>
  organisation(orgId, {
    userMetadata: Array.from({ length: count }, (_, number) => ({ id: `${orgId} ${number}`, key: 'k', value: 'dg==' })),
    humanUsers: Array.from({ length: count }, (_, number) => person(`${orgId} ${number}`, user(number))),
  });

/** Organisations that refer to each other, people who are twice in the file, and more than a request and a response. */
const orgs = [
  staying,
  everySection('north', ['south', 'crowd']),
  ...linkedOrganisations,
  crowd('crowd', 200),
  everySection('south', ['north']),
  organisation('crowd', { humanUsers: [person('crowd 0', { userName: 'second' }), person('crowd 1')] }),
  // It has no name, and is not created.
  { orgId: 'nameless', humanUsers: [person('nobody')] },
];

async function fileOf(organisations: readonly object[], more: object = {}): Promise<string> {
  const file = join(await testDirectory(), 'orgs.json');
  await writeFile(file, JSON.stringify({ orgs: organisations, ...more }));
  return file;
}

const reported = importResponse.pick({ errors: true, success: true, summary: true });

const importing = (place: ServedPlace, file: string, ...more: string[]) => [
  ...['import', file, '--to', place.url, '--token-file', place.tokenFile],
  ...everything,
  ...more,
];

async function importInto(place: ServedPlace, file: string, ...more: string[]) {
  return z.object(reported.shape).parse(await identityResult(importing(place, file, ...more)));
}

async function expectEqual(first: string, second: string, ...more: string[]) {
  const compared = await identityResult(['compare', first, second, ...everything, ...more]);
  expect(compared).toMatchObject({ code: 0, equal: true, expectedCount: 0 });
}

const uploads = ['import.uploadOpened', 'import.started', 'import.finished', 'import.uploadDeleted'];

const limitedPlace = async () => transferPlace(await transferBucket(), limits);

describe('an import of a file above the limit of a request', () => {
  it('writes and reports what one request does, also as a trial and again', async () => {
    const file = await fileOf(orgs, { unknown: 1 });
    const [limited, unlimited] = [await limitedPlace(), await servedPlace(sqlite)];
    for (const more of [['--dry-run'], [], []]) {
      const before = limited.events().length;
      const report = await importInto(limited, file, ...more);
      expect(report).toEqual(await importInto(unlimited, file, ...more));
      expect(limited.events().slice(before)).toEqual(uploads);
    }
    const without = [limited, unlimited].flatMap(({ orgId }) => ['--exclude-org', orgId]);
    await expectEqual(limited.database, unlimited.database, ...without);
  });

  it('with --on-conflict fail writes new organisations, and nothing if one exists', async () => {
    const place = await limitedPlace();
    const call = importing(place, await fileOf([crowd('crowd', 200), organisation('new')]), '--on-conflict', 'fail');
    expect(await identityResult(call)).toMatchObject({ code: 0, summary: { created: { org: 2, humanUsers: 200 } } });
    const other = await fileOf([organisation('newer'), crowd('crowd', 200), crowd('newest', 200)]);
    const again = await identity(importing(place, other, '--on-conflict', 'fail'));
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('crowd') });
    const exported = await identity(['export', place.database, '--to', '-', '--org', 'newer']);
    expect(exported).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have organisation newer') });
  });

  it('writes nothing of a file that the instance refuses, and leaves nothing in the bucket', async () => {
    const place = await limitedPlace();
    const manifest = { version: 1, instance: 'x', readTime: '2026-01-02T03:04:05.000Z', counts: { orgs: 2 } };
    const digest = `sha256:${'0'.repeat(64)}`;
    const cut = await fileOf([crowd('crowd', 200)], { manifest: { ...manifest, digest } });
    // With selected secrets, the command would read the file first.
    const refused = await identity(['import', cut, '--to', place.url, '--token-file', place.tokenFile]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('manifest.counts') });
    expect(place.events()).toEqual(expect.arrayContaining(['import.uploadOpened', 'import.uploadDeleted']));
    const exported = await identity(['export', place.database, '--to', '-', '--org', 'crowd']);
    expect(exported).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have organisation crowd') });
  });

  it('uploads no file without a selected organisation, and imports the selected ones alone', async () => {
    const place = await limitedPlace();
    const call = importing(place, await fileOf([crowd('a', 200), crowd('b', 200)]), '--org', 'b');
    const missing = await identity([...call, '--org', 'c']);
    expect(missing).toMatchObject({ code: 64, stderr: expect.stringContaining('does not have organisation c') });
    expect(place.events()).toEqual([]);
    const summary = { created: { org: 1, humanUsers: 200 }, notCarried: { org: 1, humanUsers: 200 } };
    expect(await identityResult(call)).toMatchObject({ code: 0, summary });
  });

  it('takes a file from standard input', async () => {
    const place = await limitedPlace();
    const stdin = JSON.stringify({ orgs: [crowd('crowd', 200)] });
    expect(await identityResult(importing(place, '-'), { stdin })).toMatchObject({
      code: 0,
      summary: { created: { org: 1, humanUsers: 200 } },
    });
  });
});

/** A place with people and links between organisations, and an export of its database before any test. */
async function filledPlace(bucket: TransferBucket, onWrite?: () => Promise<void>) {
  const place = await transferPlace(bucket, limits, onWrite === undefined ? {} : { onWrite });
  const { code } = await identity(['import', await fileOf(orgs), '--to', place.database, ...everything]);
  expect(code).toBe(3);
  const before = join(await testDirectory(), 'before.json');
  const without = ['--exclude-org', place.orgId];
  await call(`export ${place.database} --to ${before} ${without.join(' ')} ${everything.join(' ')}`, 0);
  return { place, before };
}

const exporting = async (place: TransferPlace, ...more: string[]) => {
  const file = join(await testDirectory(), 'out.json.gz');
  return { file, call: ['export', place.url, '--to', file, '--token-file', place.tokenFile, ...everything, ...more] };
};

describe('an export above the limit of a response', () => {
  it('is whole, is compared whole, and leaves nothing in the bucket', async () => {
    const { place, before } = await filledPlace(await transferBucket());
    const { file, call } = await exporting(place);
    expect(await identityResult(call)).toMatchObject({ code: 0 });
    expect(place.events().slice(-3)).toEqual(['export.started', 'export.finished', 'export.objectDeleted']);
    await expectEqual(file, before);
    await expectEqual(before, place.url, '--token-file', place.tokenFile);
  });

  it('has the state of its beginning if two people exchange their names meanwhile', async () => {
    const [first, last] = ['crowd 0', 'crowd 199'];
    const named = (names: Readonly<Record<string, string>>) =>
      fileOf([
        organisation('crowd', { humanUsers: Object.entries(names).map(([id, userName]) => person(id, { userName })) }),
      ]);
    let exchange = async () => {};
    const { place, before } = await filledPlace(await transferBucket(), () => exchange());
    exchange = async () => {
      for (const names of [{ [first]: 'free' }, { [last]: `name of ${first}` }, { [first]: `name of ${last}` }]) {
        const call = ['import', await named(names), '--to', place.database, '--on-conflict', 'overwrite'];
        expect(await identityResult(call)).toMatchObject({ summary: { overwritten: { humanUsers: 1 } } });
      }
    };
    const { file, call } = await exporting(place);
    expect(await identityResult(call)).toMatchObject({ code: 0 });
    await expectEqual(file, before);
    const compared = await identityResult(['compare', before, place.database, ...everything]);
    expect(compared).toMatchObject({ code: 3, counts: { humanUsers: { different: 2 } } });
  });

  it('has a manifest that an import accepts, however many steps remain', async () => {
    const bucket = await transferBucket();
    const place = await transferPlace(bucket, limits);
    const people = Array.from({ length: 200 }, (_, number) => ({
      ...person(`person ${number}`),
      otpEmail: true,
      state: 'USER_STATE_SUSPEND',
    }));
    await identity(['import', await fileOf([organisation('acme', { humanUsers: people })]), '--to', place.database]);
    const { file, call } = await exporting(place, '--for-zitadel');
    await calling()(call, 0);
    const target = await transferPlace(bucket, limits);
    const { summary } = await importInto(target, file);
    expect(summary).toMatchObject({ proved: true, created: { org: 1, humanUsers: 200 } });
  });
});

it('an import from one instance into another passes through both of their buckets', async () => {
  const bucket = await transferBucket();
  const { place: north, before } = await filledPlace(bucket);
  const south = await transferPlace(bucket, limits);
  const tokens = ['--from-token-file', north.tokenFile, '--to-token-file', south.tokenFile];
  const imported = await identityResult(['import', north.url, '--to', south.url, ...tokens, ...everything]);
  expect(imported).toMatchObject({ code: 0, summary: { proved: true } });
  expect([north.events().at(-1), south.events().at(-1)]).toEqual(['export.objectDeleted', 'import.uploadDeleted']);
  await expectEqual(before, south.database);
});

it.each([100, 90_000])('an import that is interrupted after %i bytes of its upload is repeated', async (bytes) => {
  const bucket = await transferBucket();
  const { before } = await filledPlace(bucket);
  const target = await transferPlace(bucket, limits);
  const interruption = new AbortController();
  bucket.network.stall('up', bytes);
  const struck = bucket.network.struck().then(() => interruption.abort());
  const call = importing(target, before);
  await calling({ signal: interruption.signal })(call, 130);
  await struck;
  expect(await identityResult(call)).toMatchObject({ code: 0 });
  await expectEqual(before, target.database);
});

it.each([100, 60_000])(
  'an export that is interrupted after %i bytes of its download leaves no file, and is repeated',
  async (bytes) => {
    const bucket = await transferBucket();
    const { place, before } = await filledPlace(bucket);
    const { file, call } = await exporting(place);
    const interruption = new AbortController();
    bucket.network.stall('down', bytes);
    const struck = bucket.network.struck().then(() => interruption.abort());
    await calling({ signal: interruption.signal })(call, 130);
    await struck;
    expect(existsSync(file)).toBe(false);
    await calling()(call, 0);
    await expectEqual(file, before);
  },
);
