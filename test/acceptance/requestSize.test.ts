import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleOrganisation } from '../support/fixtures/sampleOrganisation.ts';
import { expectError, exportFrom, importInto, send } from '../support/http/wire.ts';
import { type LocalStart, startLocal } from '../support/instances/localStart.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const LIMIT = 4_000;

describe('the largest request body', () => {
  let directory: TemporaryDirectory | undefined;
  let local: LocalStart | undefined;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    local = await startLocal({ directory: directory.path, env: { MAX_REQUEST_BYTES: String(LIMIT) } });
  });
  afterAll(async () => {
    await local?.stop();
    await directory?.remove();
  });

  const instance = () => {
    if (local === undefined) throw new Error('not started');
    return { url: local.targetUrl, token: local.targetToken, database: undefined };
  };
  const importBody = (bytes: number) => {
    const body = JSON.stringify({ data_orgs: { orgs: [sampleOrganisation()] } });
    return body + ' '.repeat(bytes - body.length);
  };

  it('has the size MAX_REQUEST_BYTES', async () => {
    const { status } = await sendImport(importBody(LIMIT));
    expect(status).toBe(200);
  });

  it.each([LIMIT + 1, 20 * LIMIT, 5_000_000])(
    'is enforced for %i bytes with a 413 that contains the limit and the bucket option',
    async (size) => {
      const { orgs } = await exportFrom(instance());
      const { message } = expectError(await sendImport(importBody(size)), 413, 8);
      expect(message).toContain(`${LIMIT} bytes`);
      expect(message).toContain('data_orgsv1_gcs');
      expect((await exportFrom(instance())).orgs).toEqual(orgs);
    },
  );

  it('is 4 MB for an export, which has no file to put into a bucket', async () => {
    const body = `{"response_output":true}${' '.repeat(4_000_000)}`;
    const request = { method: 'POST', path: '/admin/v1/export', token: instance().token, body };
    const { message } = expectError(await send(instance(), request), 413, 8);
    expect(message).toBe('the request body exceeds 4000000 bytes');
  });

  it('is enforced with 413 for a body of undeclared length', async () => {
    const request = { method: 'POST', headers: { authorization: `Bearer ${instance().token}` } };
    const body = new Blob([importBody(20 * LIMIT)]).stream();
    const response = await fetch(`${instance().url}/admin/v1/import`, { ...request, body, duplex: 'half' });
    const { status, headers } = response;
    expectError({ status, headers, text: await response.text() }, 413, 8);
  });

  it('is checked only after the token', async () => {
    const request = { method: 'POST', path: '/admin/v1/import', body: importBody(20 * LIMIT) };
    expectError(await send(instance(), request), 401, 16);
    expectError(await send(instance(), { ...request, token: 'notreal' }), 401, 16);
  });

  it('does not prevent the import of a smaller file afterwards', async () => {
    const { summary } = await importInto(instance(), { data_orgs: { orgs: [sampleOrganisation()] } });
    expect(summary.created).toMatchObject({ org: 1 });
  });

  function sendImport(body: string) {
    return send(instance(), { method: 'POST', path: '/admin/v1/import', token: instance().token, body });
  }
});
