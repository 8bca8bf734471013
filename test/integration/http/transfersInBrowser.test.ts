import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import { becomeFunction } from '../../support/emulators/functionAccount.ts';
import { startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { findBrowser, launchBrowser, noBrowser, servePage } from '../repository/browser/openPage.ts';

const program = await findBrowser();
if (program === undefined) process.stdout.write(`skipped: ${noBrowser}\n`);

const RESPONSE_BYTES = 20_000;

/** The options of a request that a page sends. */
interface PageRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe.skipIf(program === undefined)('a page of another origin', () => {
  const resources = new AsyncDisposableStack();
  let call = async (_function: 'export' | 'import', _body: object): Promise<unknown> => undefined;
  let put = async (_uri: string, _file: string): Promise<unknown> => undefined;

  beforeAll(async () => {
    const directory = resources.adopt(await temporaryDirectory(), (made) => made.remove());
    const { token } = z
      .looseObject({ token: z.string() })
      .parse(await identityJson(['init', '--data', directory.path]));
    const bucket = resources.adopt(await startLocalBucket(), (started) => started.close());
    becomeFunction(bucket.url);
    const served = resources.adopt(await servePage(), (page) => page.close());
    const env = {
      DATA_DIR: directory.path,
      CORS_ORIGINS: served.origin,
      MAX_RESPONSE_BYTES: String(RESPONSE_BYTES),
      STORAGE_EMULATOR_HOST: bucket.url,
      TRANSFER_BUCKET: 'exports',
    };
    const urls = { export: '', import: '' };
    for (const name of ['export', 'import'] as const) {
      const started = resources.adopt(await startFunction(name, env), async (running) => void (await running.stop()));
      urls[name] = `${started.url}/admin/v1/${name}`;
    }
    const browser = resources.adopt(await launchBrowser(program ?? ''), (launched) => launched.close());
    const page = await browser.newPage();
    await page.goto(served.origin);
    const fetchInPage = (url: string, init: PageRequest) =>
      page.evaluate(
        async ([target, options]) => {
          const response = await fetch(target, options);
          return { status: response.status, text: await response.text() };
        },
        [url, init] as const,
      );
    call = async (name, body) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-request-id': 'page' };
      const { text } = await fetchInPage(urls[name], { method: 'POST', headers, body: JSON.stringify(body) });
      return JSON.parse(text);
    };
    put = async (uri, file) => (await fetchInPage(uri, { method: 'PUT', headers: {}, body: file })).status;
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await resources.disposeAsync();
  });

  it('uploads a file for an import, and follows a large export to its signed URL', async () => {
    const humanUsers = Array.from({ length: 100 }, (_, index) => person(`person-${index}`));
    const file = JSON.stringify({ orgs: [organisation('large', { humanUsers })] });
    expect(file.length).toBeGreaterThan(RESPONSE_BYTES);
    const opened = await call('import', { upload: { size: file.length } });
    const { upload } = z.object({ upload: z.object({ id: z.string(), uri: z.url() }) }).parse(opened);
    expect(await put(upload.uri, file)).toBe(200);
    expect(await call('import', { data_orgs_upload: upload.id })).toMatchObject({
      summary: { created: { org: 1, humanUsers: 100 } },
    });
    expect(await call('export', { response_output: true })).toMatchObject({
      manifest: { counts: { humanUsers: 100 } },
    });
  });
});
