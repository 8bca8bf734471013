import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { valueAt } from '../../shared/json/jsonObject.ts';
import { identity, identityResult } from '../support/command.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { exportFileWith } from '../support/migrations/migrating.ts';
import { servedPlace, testDirectory } from '../support/places/servedPlace.ts';
import { transferBucket, transferPlace } from '../support/places/transferPlace.ts';
import { repetitions } from '../support/repetitions.ts';
import { sqlite } from '../support/stores/stores.ts';
import type { ReceivedRequest } from '../support/zitadel/behaviour.ts';
import { people } from '../support/zitadel/files.ts';
import { filledZitadel } from '../support/zitadel/placeOfZitadel.ts';

const progressEvent = z.looseObject({
  event: z.string(),
  phase: z.unknown().optional(),
  records: z.unknown().optional(),
});

const timedPhase = z.looseObject({ seconds: z.number() });

describe('a comparison of two files', () => {
  it('needs no more memory for more people', async () => {
    const count = repetitions({ few: 20_000, many: 100_000 });
    const directory = await testDirectory();
    const file = async (name: string, changed: number) => {
      const path = join(directory, name);
      const humanUsers = Array.from({ length: count }, (_, index) =>
        person(`person-${index}`, { userName: index === changed ? 'changed' : `name-${index}` }),
      );
      await writeFile(path, JSON.stringify({ orgs: [organisation('acme', { humanUsers })] }));
      return path;
    };
    const [left, right] = [await file('left.json', -1), await file('right.json', count - 1)];
    const env = { NODE_OPTIONS: '--max-old-space-size=48' };
    expect(await identityResult(['compare', left, right], { env })).toMatchObject({
      code: 3,
      counts: { humanUsers: { equal: count - 1, different: 1 } },
      differences: [{ id: `person-${count - 1}`, fields: [{ path: 'user.userName', second: 'changed' }] }],
    });
  });
});

describe('an export for ZITADEL', () => {
  it('needs no more memory for more people and grants', async () => {
    const count = repetitions({ few: 20_000, many: 100_000 });
    const ids = Array.from({ length: count }, (_, index) => `person-${index}`);
    const place = await servedPlace(sqlite);
    const directory = await testDirectory();
    const [given, ordered] = [join(directory, 'given.json'), join(directory, 'ordered.json')];
    const orgs = [
      organisation('granted', {
        humanUsers: ids.map((id) => person(id)),
        userGrants: ids.map((userId) => ({ userId, projectId: 'project', projectGrantId: 'grant' })),
      }),
      organisation('owner', {
        projects: [{ projectId: 'project', project: { name: 'Project' } }],
        projectGrants: [{ grantId: 'grant', projectGrant: { projectId: 'project', grantedOrgId: 'granted' } }],
      }),
    ];
    await writeFile(given, JSON.stringify({ orgs }));
    expect(await identityResult(['import', given, '--to', place.database])).toMatchObject({ code: 0 });
    const call = ['export', place.url, '--token-file', place.tokenFile, '--for-zitadel', '--to', ordered];
    const env = { NODE_OPTIONS: '--max-old-space-size=48' };
    expect(await identityResult(call, { env })).toMatchObject({ code: 0, organisations: 2 });
    const repeated = await identityResult(['import', ordered, '--to', place.database]);
    expect(repeated).toMatchObject({ summary: { proved: true, unchanged: { humanUsers: count, userGrants: count } } });
  });
});

const MANY = repetitions({ few: 30_000, many: 60_000 });

describe(`an import of ${MANY} people into an instance`, () => {
  it('prints the progress that the instance reports', async () => {
    const { url, tokenFile } = await servedPlace(sqlite);
    const humanUsers = Array.from({ length: MANY }, (_, index) => person(`person-${index}`));
    const file = join(await testDirectory(), 'many.json');
    await writeFile(file, JSON.stringify({ orgs: [organisation('acme', { humanUsers })] }));
    const { code, stdout, stderr } = await identity(['import', file, '--to', url, '--token-file', tokenFile, '--json']);
    expect(code, stderr).toBe(0);
    const lines = stdout.trim().split('\n');
    const events = lines.map((line) => progressEvent.parse(JSON.parse(line)));
    const counts = events
      .filter(({ event, phase }) => event === 'progress' && phase === 'importing')
      .map(({ records }) => Number(records ?? 0));
    const { seconds } = timedPhase.parse(events.at(-2));
    // A fast machine may have imported them before the second line.
    if (seconds > 2) expect(counts.filter((count) => count > 0 && count <= MANY)).not.toEqual([]);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(events.at(-2)).toMatchObject({ event: 'phase', phase: 'importing', records: MANY + 1 });
  });
});

const transferred = repetitions({
  few: { count: 6_000, bytes: 1_000_000 },
  many: { count: 60_000, bytes: 10_000_000 },
});

describe(`a file of ${transferred.count} people and 2,500 bytes for each`, () => {
  it('passes through a bucket in both directions, and needs no more memory for more people', async () => {
    const { count, bytes } = transferred;
    const value = Buffer.alloc(1_600, 'x').toString('base64');
    const ids = Array.from({ length: count }, (_, index) => `person-${index}`);
    const content = {
      humanUsers: ids.map((id) => person(id)),
      userMetadata: ids.map((id) => ({ id, key: 'k', value })),
    };
    const file = await exportFileWith(organisation('acme', content));
    const place = await transferPlace(await transferBucket(), { requestBytes: bytes, responseBytes: bytes });
    const env = { NODE_OPTIONS: '--max-old-space-size=64' };
    const token = ['--token-file', place.tokenFile];
    const records = { org: 1, humanUsers: count, userMetadata: count };
    const call = ['import', file, '--to', place.url, ...token];
    expect(await identityResult([...call, '--dry-run'], { env })).toMatchObject({ summary: { created: records } });
    expect(await identityResult(call, { env })).toMatchObject({ code: 0, summary: { created: records } });
    const out = join(await testDirectory(), 'out.json');
    const exported = await identityResult(['export', place.url, '--to', out, ...token, '--org', 'acme'], { env });
    expect(exported).toMatchObject({ code: 0, records: 2 * count + 1 });
    expect(await identityResult(['compare', file, out], { env })).toMatchObject({ code: 0, equal: true });
    expect(place.events()).toEqual(expect.arrayContaining(['import.uploadDeleted', 'export.objectDeleted']));
  });
});

/** Returns the imports with a file. The other calls only detect the kind of server. */
const importsOf = ({ requests }: { readonly requests: readonly ReceivedRequest[] }) =>
  requests.filter(({ path, records }) => path.endsWith('/ImportData') && records !== undefined);

/** More than one message of gRPC contains. */
const CROWD = repetitions({ few: 24_000, many: 30_000 });

describe('the people of a ZITADEL', () => {
  it('move into it and from there to another instance, 10,000 with hashes and seeds', async () => {
    const [north, south] = [await servedPlace(sqlite), await servedPlace(sqlite)];
    const orgs = [
      organisation('acme', { humanUsers: people(6_000) }),
      organisation('emca', { humanUsers: people(4_000, 6_000) }),
    ];
    const input = await exportFileWith(...orgs);
    expect(await identityResult(['import', input, '--to', north.database])).toMatchObject({ code: 0 });
    const { zitadel, tokenFile: token } = await filledZitadel([], { lagMs: 1_000 });
    const moved = ['--org', 'acme', '--org', 'emca', '--with', 'passwords,otp,keys'];
    const there = ['--to', zitadel.url, '--to-token-file', token];
    expect(await identityResult(['import', north.database, ...moved, ...there])).toMatchObject({
      code: 0,
      summary: { created: { org: 2, humanUsers: 10_000 }, failed: {}, notCarried: {} },
    });
    expect(importsOf(zitadel).map(({ records }) => records)).toEqual([0, 500, 1_000, 2_000, 4_000, 2_500]);
    const sides = ['compare', north.database, zitadel.url, '--token-file', token, ...moved];
    expect(await identityResult(sides)).toMatchObject({
      code: 0,
      equal: true,
      counts: { humanUsers: { equal: 10_000 } },
    });
    const back = ['import', zitadel.url, '--from-token-file', token, '--to', south.database, ...moved];
    const summary = { created: { humanUsers: 10_000 }, failed: {} };
    expect(await identityResult(back)).toMatchObject({ code: 0, summary });
    const proof = await identityResult(['compare', north.database, south.database, ...moved]);
    expect(proof).toMatchObject({ counts: { humanUsers: { equal: 10_000 } } });
  });

  it(`leave it over gRPC-Web, and enter another in requests within its limits, ${CROWD} with hashes and seeds`, async () => {
    const crowd = organisation('acme', { humanUsers: people(CROWD) });
    const { zitadel, tokenFile: token } = await filledZitadel([crowd]);
    const path = join(await testDirectory(), 'out.json.gz');
    const from = ['export', zitadel.url, '--token-file', token, '--org', 'acme', '--with', 'passwords,otp'];
    expect((await identity([...from, '--to', path])).code).toBe(0);
    const exports = zitadel.requests.filter(({ path: called }) => /export/i.test(called));
    expect(exports.map(({ status }) => status)).toEqual([200]);
    const target = await filledZitadel([], { lagMs: 0 });
    const to = ['--to', target.zitadel.url, '--token-file', target.tokenFile];
    expect(await identityResult(['import', path, ...to])).toMatchObject({
      code: 0,
      summary: { created: { humanUsers: CROWD }, unchanged: {}, failed: {} },
    });
    for (const { status, bytes = 0, records = 0 } of importsOf(target.zitadel))
      expect([status, bytes <= 4_194_304, records <= 5_000]).toEqual([200, true, true]);
    const arrived = target.zitadel.contents.visible('acme', 'humanUsers');
    expect(arrived).toHaveLength(CROWD);
    expect(arrived.every((someone) => valueAt(someone, 'user.hashedPassword.value') !== undefined)).toBe(true);
    expect(arrived.filter((someone) => valueAt(someone, 'user.otpCode') !== undefined)).toHaveLength(CROWD / 10);
  });
});
