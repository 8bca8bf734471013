import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identityJson } from '../../support/command.ts';
import { readDocument, shownModule } from '../../support/documents/documentation.ts';
import { describeRpcClients } from '../../support/http/describeRpcClients.ts';
import type { RpcClient } from '../../support/http/rpcClients.ts';
import { serveHosted } from '../../support/instances/commandInstance.ts';
import type { Instance } from '../../support/instances/deployments.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { findBrowser, noBrowser, type OpenPage, openPage, servePage } from './browser/openPage.ts';

const program = await findBrowser();
if (program === undefined) process.stdout.write(`skipped: ${noBrowser}\n`);

const refused = z.object({ code: z.int(), message: z.string(), id: z.string().optional() });
const outcome = z.object({ answered: z.unknown().optional(), refused: refused.optional() });

describe.skipIf(program === undefined)('@zitadel/client for web in a browser', () => {
  const resources = new AsyncDisposableStack();
  let opened: OpenPage | undefined;
  let open: Instance = { url: '', token: '', database: undefined };
  let closed: Instance = open;
  let urlOfFunction = '';

  beforeAll(async () => {
    const page = resources.adopt(await servePage(), (served) => served.close());
    const env = { CORS_ORIGINS: page.origin };
    const serving = async (more: Record<string, string>) => {
      const directory = resources.adopt(await temporaryDirectory(), (made) => made.remove());
      const database = ['--data', directory.path];
      const { token } = z.looseObject({ token: z.string() }).parse(await identityJson(['init', ...database]));
      const started = await serveHosted(database, [], more);
      resources.adopt(started, async (running) => void (await running.stop()));
      return { url: started.ready[1] ?? '', token, database, directory };
    };
    const { directory, ...served } = await serving(env);
    open = served;
    closed = await serving({});
    const started = await startFunction('removeOtpEmail', { DATA_DIR: directory.path, ...env });
    resources.adopt(started, async (running) => void (await running.stop()));
    urlOfFunction = started.url;
    opened = resources.adopt(await openPage(program ?? '', page.origin), (shown) => shown.close());
  });
  afterAll(() => resources.disposeAsync());

  const client: RpcClient = {
    name: 'gRPC-Web from a page of another origin',
    call: async (call) => {
      const answer: unknown = await opened?.page.evaluate(
        (given) => Reflect.get(globalThis, 'callUserService')(given),
        call,
      );
      const { answered, refused: refusal } = outcome.parse(answer);
      if (refusal !== undefined) throw refusal;
      return answered;
    },
    refusal: (thrown) => ({ id: undefined, ...refused.parse(thrown) }),
  };

  describe('of an origin that is configured, from identity serve', () => {
    describeRpcClients(() => ({ url: open.url, instance: open }), [client]);
  });

  describe('of an origin that is configured, from the function', () => {
    describeRpcClients(() => ({ url: urlOfFunction, instance: open }), [client]);
  });

  it.each(['removeOtpEmail', 'removeWithClient'])('of the documentation, %s, reads the errors', async (name) => {
    const code = shownModule(await readDocument('docs/clients.md')).replaceAll('http://127.0.0.1:8080', open.url);
    const url = `data:text/javascript,${encodeURIComponent(code)}`;
    const failed = opened?.page.evaluate(
      `import(${JSON.stringify(url)}).then(({ ${name} }) => ${name}('${open.token}', 'none'))`,
    );
    await expect(failed).rejects.toThrow(/(404|NotFound) COMMAND-4g3xq: .*, request [\w-]{36}/);
  });

  it('of an origin that is not configured gets no answer', async () => {
    const { url, token } = closed;
    const removal = client.call({ method: 'removeOTPEmail', url, token, userId: '1' });
    await expect(removal).rejects.toMatchObject({ code: 2, message: expect.stringContaining('Failed to fetch') });
  });
});
