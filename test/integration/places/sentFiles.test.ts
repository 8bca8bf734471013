import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { splicedFile } from '../../support/fixtures/splicedFile.ts';
import { exportFrom, importFile } from '../../support/http/wire.ts';
import { loggedPlace, servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';

const result = z.object({ summary: z.looseObject({ created: z.record(z.string(), z.number()), proved: z.boolean() }) });

/** Runs the command, and returns the result that it prints last. */
async function imported(call: readonly string[]): Promise<z.infer<typeof result>> {
  const { code, stdout, stderr } = await identity([...call, '--json']);
  expect(code, stderr).toBe(0);
  return result.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
}

describe('a file that identity import sends to an instance', () => {
  it('sets no option, whatever it holds', async () => {
    const { url, token, tokenFile } = await servedPlace(sqlite);
    const instance = { url, token, database: undefined };
    await importFile(instance, '', JSON.stringify({ orgs: [organisation('O', { humanUsers: [person('ada')] })] }));
    const renamed = JSON.stringify({ orgs: [organisation('O', { org: { name: 'renamed' } })] });
    const options = { data_orgs: JSON.parse(renamed), on_conflict: 'overwrite' };
    const added = JSON.stringify(options).slice(1);
    const files = [
      splicedFile(options),
      `${renamed},${added}`,
      `${renamed.slice(0, -1)},${added}`,
      JSON.stringify({ ...options, orgs: [] }),
      `${renamed}}`,
    ];
    const file = join(await testDirectory(), 'file.json');
    for (const text of files) {
      await writeFile(file, text);
      const call = ['import', file, '--to', instance.url, '--token-file', tokenFile];
      for (const more of [['--dry-run'], []]) {
        const { code, stdout } = await identity([...call, ...more, '--json']);
        expect(`${code} ${stdout}`).not.toMatch(/"overwritten"/);
      }
      expect((await exportFrom(instance, { org_ids: ['O'] })).orgs).toMatchObject([
        { org: { name: 'Organisation O' } },
      ]);
    }
  });

  it('is not sent with more ids of organisations than a query can contain', async () => {
    const [north, south] = [await servedPlace(sqlite), await loggedPlace(sqlite)];
    const orgIds = Array.from({ length: 700 }, (_, index) => `organisation number ${index}`);
    const orgs = orgIds.map((orgId) => organisation(orgId, { humanUsers: [person(`person of ${orgId}`)] }));
    await importFile({ ...north, database: undefined }, '', JSON.stringify({ orgs }));
    const file = join(await testDirectory(), 'north.json.gz');
    await identity(['export', north.url, '--token-file', north.tokenFile, '--exclude-org', north.orgId, '--to', file]);
    const named = orgIds.slice(0, 600).flatMap((orgId) => ['--org', orgId]);
    const toSouth = ['--to', south.url, '--to-token-file', south.tokenFile];
    await call(
      ['import', file, ...toSouth, ...named],
      64,
      ' characters long, more than the limit of 8,000: specify fewer organisations per call, or export a file',
    );
    const part = ['import', file, ...toSouth, ...named.slice(0, 200)];
    expect((await imported(part)).summary).toMatchObject({ created: { org: 100, humanUsers: 100 }, proved: true });
    const all = ['import', north.url, '--with', 'none', '--from-token-file', north.tokenFile, ...toSouth, ...named];
    expect((await imported(all)).summary).toMatchObject({ created: { org: 500 }, proved: true });
    const from = ['--from', north.url, '--from-token-file', north.tokenFile];
    const migrated = await identity(['migrate', ...from, ...toSouth, ...named, '--with', 'none', '--yes']);
    expect(migrated, migrated.stderr).toMatchObject({ code: 0 });
    expect(south.requests().filter((line) => line.startsWith('/admin/v1/import'))).not.toContain(
      '/admin/v1/import 431',
    );
  });
});
