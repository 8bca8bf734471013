import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, importInto, parseOk, post, send } from '../support/http/wire.ts';
import { type Deployment, describeDeployments, type Instance } from '../support/instances/deployments.ts';

const description = z.object({ 'x-limits': z.object({ transfers: z.literal(true).optional() }) });
const opened = z.strictObject({
  upload: z.strictObject({ id: z.string(), uri: z.url(), expiresAt: z.iso.datetime() }),
});

const hasTransfers = async (instance: Instance) => {
  const answer = await send(instance, { method: 'GET', path: '/openapi.json' });
  return description.parse(parseOk(answer))['x-limits'].transfers === true;
};

const remove = ({ target }: Deployment, operation: 'export' | 'import', query: string) =>
  send(target, { method: 'DELETE', path: `/admin/v1/${operation}?${query}`, token: target.token });

/** Returns an id that no transfer has. */
const unknownId = () => randomBytes(16).toString('base64url');

describeDeployments('an upload', (get) => {
  it('is imported as often as its id is sent, and then deleted, if the instance has a bucket for transfers', async ({
    skip,
  }) => {
    const { target } = get();
    if (!(await hasTransfers(target))) skip('the instance has no bucket for transfers');
    const file = Buffer.from(JSON.stringify({ orgs: [sampleOrganisation()] }));
    const { id, uri } = opened.parse(parseOk(await post(target, 'import', { upload: { size: file.length } }))).upload;
    expectError(await post(target, 'import', { data_orgs_upload: id }), 404, 5);
    const sent = await fetch(uri, { method: 'PUT', body: file });
    expect(sent.ok, await sent.text()).toBe(true);
    const first = await importInto(target, { data_orgs_upload: id });
    expect(first.summary).toMatchObject({ created: { org: 1, humanUsers: 4 }, failed: {} });
    const second = await importInto(target, { data_orgs_upload: id });
    expect(second.summary).toMatchObject({ created: {}, unchanged: first.summary.created });
    expect(parseOk(await remove(get(), 'import', `upload=${id}`))).toEqual({});
    expectError(await remove(get(), 'import', `upload=${id}`), 404, 5);
  });

  it('is an error that names a caller’s bucket, if the instance has none for transfers', async ({ skip }) => {
    const { target } = get();
    if (await hasTransfers(target)) skip('the instance has a bucket for transfers');
    for (const body of [{ upload: { size: 1 } }, { data_orgs_upload: unknownId() }])
      expect(expectError(await post(target, 'import', body), 400, 9).message).toContain('data_orgs_gcs');
  });

  it.each([
    ['import', 'upload'],
    ['export', 'object'],
  ] as const)('of an unknown id cannot be deleted: %s', async (operation, parameter) => {
    const answer = await remove(get(), operation, `${parameter}=${unknownId()}`);
    expect(expectError(answer, 404, 5).message).toMatch(/^(im|ex)ports\/[\w-]{22} does not exist/);
    expectError(await remove(get(), operation, `${parameter}=x`), 400, 3);
    expectError(await remove(get(), operation, ''), 405, 12);
    const { target } = get();
    expectError(
      await send(target, { method: 'DELETE', path: `/admin/v1/${operation}?${parameter}=${unknownId()}` }),
      401,
      16,
    );
  });
});
