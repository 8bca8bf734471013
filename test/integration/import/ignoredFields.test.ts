import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const statements = z.object({ manifest: z.object({ secrets: z.unknown(), ignored: z.unknown() }) });
const lists = z.looseObject({ warnings: z.array(z.unknown()) });

describe('the manifest of an export', () => {
  it('lists the kinds of secrets in the file, and the ignored fields of the request', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const request = { with_password: true, withOtp: true, comment: 'nightly', toString: null, response_output: true };
    const { text } = await instance.attempt('export', request);
    expect(statements.parse(JSON.parse(text)).manifest).toEqual({
      secrets: { passwords: false, otp: true, keys: false },
      ignored: [{ field: 'with_password', nearest: 'with_passwords' }, { field: 'comment' }],
    });
  });

  it('is accepted by an import with these statements, without them, and whatever their values', async () => {
    const source = await testInstance(await openTestStore(sqlite));
    await source.import({ dataOrgs: { orgs: [organisation('A', { humanUsers: [person('U')] })] } });
    const { orgs, manifest } = await source.export();
    expect(statements.parse({ manifest }).manifest).toEqual({
      secrets: { passwords: true, otp: true, keys: true },
      ignored: [],
    });
    const { secrets: _secrets, ignored: _ignored, ...older } = manifest;
    const target = await testInstance(await openTestStore(sqlite));
    for (const one of [manifest, older, { ...manifest, secrets: 'none', ignored: 7 }]) {
      const { summary } = await target.import({ dataOrgs: { orgs, manifest: one } });
      expect(summary).toMatchObject({ proved: true, warnings: [] });
    }
  });
});

describe('the warnings of an import', () => {
  it('list a limited number of ignored fields', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown${index}`, index]));
    const { summary } = await instance.import({ ...many, dataOrgs: { orgs: [] } });
    const { warnings } = lists.parse(summary);
    expect(warnings).toHaveLength(21);
    expect(warnings[0]).toMatchObject({ type: 'request', id: 'unknown0', reason: 'field_ignored' });
  });
});

describe('the ids of an import response', () => {
  const orgs = [organisation('A', { humanUsers: [person('U')] }), organisation('B')];

  it('are omitted with "ids": false, if there are any', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { success, summary } = await instance.import({ ids: false, dataOrgs: { orgs } });
    expect(success).toEqual({ orgs: [{ orgId: 'A' }, { orgId: 'B' }] });
    expect(summary).toMatchObject({ idsOmitted: true, created: { org: 2, humanUsers: 1 } });
    const again = await instance.import({ ids: false, dataOrgs: { orgs } });
    expect(again.summary.idsOmitted).toBeUndefined();
  });

  it('are listed with "ids": true, and without the field', async () => {
    for (const ids of [true, undefined]) {
      const instance = await testInstance(await openTestStore(sqlite));
      const { success, summary } = await instance.import({ ids, dataOrgs: { orgs } });
      expect(success.orgs?.[0]).toEqual({ orgId: 'A', humanUserIds: ['U'] });
      expect(summary.idsOmitted).toBeUndefined();
    }
  });
});
