import { readFile } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { emptyExport, startFakeInstance, startServer } from '../../support/places/fakeInstance.ts';
import { servedPlace, testDirectory } from '../../support/places/servedPlace.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { filledZitadel, tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

interface Page {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Whether the server has handled the request before the gateway responds. */
  readonly isHandled?: true;
  /** The number of bytes of the response after which the gateway cuts the connection. */
  readonly cutAt?: number;
}

/** Starts a gateway that responds to some requests itself, and passes all others on. */
async function startGateway(backend: string, pageOf: (request: IncomingMessage) => Page | undefined): Promise<string> {
  const respond = (response: ServerResponse, { status, headers, body = '', cutAt }: Page) => {
    response.writeHead(status, headers);
    if (cutAt === undefined) response.end(body);
    else response.write(body.slice(0, cutAt), () => response.destroy());
  };
  return await startServer((request, response) => {
    const { method, url = '', headers } = request;
    const page = pageOf(request);
    if (page !== undefined && page.isHandled !== true) {
      request.resume();
      respond(response, page);
      return;
    }
    const passed = send(new URL(url, backend), { method, headers }, (answer) => {
      if (page === undefined) answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      else if (page.body === undefined && page.cutAt !== undefined)
        void buffer(answer).then((body) => respond(response, { ...page, body }));
      else answer.resume().on('end', () => respond(response, page));
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
}

const untilDate = () => new Date(Date.now() + 2_000).toUTCString();
const busyPages: Readonly<Record<string, Page>> = {
  '429 with seconds': { status: 429, headers: { 'retry-after': '1' }, body: '{"message":"API rate limit exceeded"}' },
  '503 with a date': { status: 503, headers: { 'retry-after': untilDate() }, body: '<h1>Busy</h1>' },
  '502': { status: 502, body: '<title>502 Bad Gateway</title>' },
  '504 with seconds': { status: 504, headers: { 'retry-after': '1' } },
  '425': { status: 425 },
  '408': { status: 408 },
};
const busy = Object.entries(busyPages).map(([name, page]) => ({ ...page, name }));

/** A response to the first request that matches. */
function once(
  matches: (request: IncomingMessage) => boolean,
  page: Page,
): (request: IncomingMessage) => Page | undefined {
  let isDone = false;
  return (request) => {
    if (isDone || !matches(request)) return undefined;
    isDone = true;
    return page;
  };
}

const isDescription = ({ url }: IncomingMessage) => url === '/openapi.json';
const isPost = ({ method }: IncomingMessage) => method === 'POST';
const isDelete = ({ method }: IncomingMessage) => method === 'DELETE';

describe('a command whose first call a busy server refuses', () => {
  it.each(busy)('waits, and imports: $name', async (page) => {
    const place = await servedPlace(sqlite);
    const url = await startGateway(place.url, once(isPost, page));
    const file = await exportFileWith(organisation('acme', { humanUsers: [person('ada')] }));
    const { code, stdout, stderr } = await identity(['import', file, '--to', url, '--token-file', place.tokenFile]);
    expect({ code, stdout }, stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('created: organisations 1, people 1'),
    });
    expect(stderr).toMatch(new RegExp(`^${url} failed: status ${page.status}.*: trying again in [12] s$`, 'm'));
  });

  it.each(
    busy.slice(0, 2).flatMap((page) => [
      { ...page, part: 'one organisation', orgs: 1 },
      // An instance with only its default organisation.
      { ...page, part: 'the instance', orgs: 0 },
    ]),
  )('waits, and exports $part, with an event for programs: $name', async ({ part, orgs, ...page }) => {
    const place = await servedPlace(sqlite);
    const url = await startGateway(place.url, once(isPost, page));
    const out = join(await testDirectory(), 'out.json');
    const selected = part === 'the instance' ? [] : ['--org', place.orgId];
    const exporting = ['export', url, ...selected, '--to', out, '--token-file', place.tokenFile, '--json'];
    const { code, stdout, stderr } = await identity(exporting);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`{"event":"retry","problem":"${url} failed: status ${page.status}`);
    expect(JSON.parse((await readFile(out)).toString()).orgs).toHaveLength(orgs);
  });

  it.each([
    ['503', { status: 503, headers: { 'retry-after': '1' } }],
    ['503 after the removal', { status: 503, headers: { 'retry-after': '1' }, isHandled: true }],
    ['504 after the removal', { status: 504, isHandled: true }],
    ['a cut after the removal', { status: 200, isHandled: true, cutAt: 5 }],
    ['a cut before any byte of the response', { status: 200, isHandled: true, cutAt: 0 }],
  ] as const)('removes a factor, even if the first call did: %s', async (_case, page) => {
    const place = await servedPlace(sqlite);
    const file = await exportFileWith(organisation('acme', { humanUsers: [person('ada')] }));
    await identity(['import', file, '--to', place.database]);
    const data = place.database.replace('sqlite:', '');
    expect((await identity(['otp-email', 'enable', 'ada', '--data', data])).code).toBe(0);
    const url = await startGateway(place.url, once(isDelete, page));
    const { code, stdout, stderr } = await identity([
      'otp-email',
      'remove',
      'ada',
      url,
      '--token-file',
      place.tokenFile,
    ]);
    expect({ code, stdout }, stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(': removed') });
    expect(stderr).toContain(': trying again in 1 s\n');
  });

  it.each([
    [
      'a cut',
      { status: 200, isHandled: true, cutAt: 50 },
      /the connection was lost during the response to GET \/openapi\.json/,
    ],
    ['504', { status: 504 }, /failed: status 504/],
    ['a cut error', { status: 503, body: '<title>half</title><p>', cutAt: 19 }, /failed: status 503: half/],
  ] as const)('repeats its first call after %s', async (_case, page, problem) => {
    const place = await servedPlace(sqlite);
    const url = await startGateway(place.url, once(isDescription, page));
    const { code, stderr } = await identity(['inspect', url, '--token-file', place.tokenFile]);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(problem);
    expect(stderr).toContain(': trying again in 1 s\n');
  });

  it('repeats its first call after a connection without a response', async () => {
    const place = await servedPlace(sqlite);
    let isDone = false;
    const url = await startGateway(place.url, (request) => {
      if (!isDone) request.socket.resetAndDestroy();
      isDone = true;
      return undefined;
    });
    const { code, stderr } = await identity(['inspect', url, '--token-file', place.tokenFile]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      `${url} failed: the connection was lost before the response to GET /openapi.json (ECONNRESET): trying again in 1 s\n`,
    );
  });

  it('reads standard input once, and says so', async () => {
    const { url } = await startFakeInstance((response, request) => {
      const isTrial = request.headers['content-type'] === 'application/json';
      if (isTrial) response.writeHead(200).end(emptyExport);
      else request.resume().on('end', () => response.writeHead(503, { 'retry-after': '1' }).end());
    });
    const stdin = await readFile(await exportFileWith(organisation('acme', { humanUsers: [person('ada')] })));
    const token = await tokenFileWith('some-token');
    const { code, stderr } = await identity(['import', '-', '--to', url, '--token-file', token], { stdin });
    expect(code).toBe(1);
    expect(stderr).toContain(
      `identity: ${url} failed: status 503: repeat the command; this command cannot repeat the call, because the source can be read only once\n`,
    );
  });

  it('ends with the pause that a server asks for if that is too long', async () => {
    const url = await startServer((_request, response) =>
      response.writeHead(503, { 'retry-after': '3600' }).end('down'),
    );
    const token = await tokenFileWith('some-token');
    const { code, stderr } = await identity(['inspect', url, '--token-file', token]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `identity: ${url} failed: status 503: down: repeat the command; the server asks to wait 1h 0m; this command waits at most 5m 0s\n`,
    });
  });

  it('stops waiting when the user interrupts it', async () => {
    const place = await servedPlace(sqlite);
    const url = await startGateway(place.url, () => ({ status: 503, headers: { 'retry-after': '60' } }));
    const controller = new AbortController();
    const onStderr = (text: string) => {
      if (text.includes('trying again in 60 s')) controller.abort();
    };
    const out = join(await testDirectory(), 'out.json');
    const exporting = ['export', url, '--to', out, '--token-file', place.tokenFile];
    const { code, stderr } = await identity(exporting, { signal: controller.signal, onStderr });
    expect(code).toBe(130);
    expect(stderr).toMatch(/interrupted: .* was not created/);
  });

  it.each([
    ['over HTTP', { status: 429, headers: { 'retry-after': '1' } }],
    [
      'in trailers',
      {
        status: 200,
        headers: {
          'content-type': 'application/grpc-web+proto',
          'grpc-status': '8',
          'grpc-message': 'slow down',
          'retry-after': '1',
        },
      },
    ],
  ])('waits for ZITADEL: %s', async (_case, page) => {
    const { zitadel, tokenFile } = await filledZitadel([organisation('acme', { humanUsers: [person('ada')] })]);
    const isCall = ({ url = '' }: IncomingMessage) => url.startsWith('/zitadel.');
    const url = await startGateway(zitadel.url, once(isCall, page));
    const { code, stderr } = await identity(['inspect', url, '--token-file', tokenFile]);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/failed: .*: trying again in 1 s$/m);
  });
});

it('a short call of ZITADEL is repeated after the time limit of a gateway', async () => {
  const { zitadel, tokenFile } = await filledZitadel([organisation('acme', { humanUsers: [person('ada')] })]);
  const paths = new Set<string>();
  const url = await startGateway(zitadel.url, ({ url: path = '' }) => {
    const isShort = path.startsWith('/.well-known/') || path.endsWith('/GetMyInstance');
    if (!isShort || paths.has(path)) return undefined;
    paths.add(path);
    return { status: 504, body: '<title>504 Gateway Time-out</title>' };
  });
  const { code, stderr } = await identity(['inspect', url, '--token-file', tokenFile]);
  expect(code, stderr).toBe(0);
  expect(paths.size).toBe(2);
});

/** Pages of gateways, by the problem and the remedy that a command prints. */
const printedPages: Readonly<Record<string, Page>> = {
  'redirects to https://login.example.com/start?next=1 (status 302): specify https://login.example.com; or, if https://login.example.com is a login page, configure':
    { status: 302, headers: { location: 'https://login.example.com/start?next=1' } },
  'redirects to http://SAME/en/ (status 307): configure the gateway in front of the instance to forward the calls of this command without redirecting them':
    { status: 307, headers: { location: '/en/' } },
  'redirects to no address: Location is missing (status 301): configure the gateway': { status: 301 },
  'responds with status 304 (not modified), without content: configure the gateway': { status: 304 },
  'responds with status 204: check that the address leads to the instance': { status: 204 },
  'refuses: status 401: 401 Authorization Required, and requires credentials (Basic realm="intranet"): configure the gateway in front':
    {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="intranet"' },
      body: '<title>401 Authorization Required</title>',
    },
  'refuses: status 403: Blocked by policy: configure the': { status: 403, body: '<title>Blocked by policy</title>' },
  'refuses: status 407, and requires credentials (Negotiate): reach the instance without that proxy': {
    status: 407,
    headers: { 'proxy-authenticate': 'Negotiate' },
  },
  'refuses: status 413: too big: raise the body size limit of the gateway in front of the instance, such as client_max_body_size of nginx\n':
    { status: 413, body: 'too big' },
  'refuses: status 418: teapot: check that the address leads': { status: 418, body: '{"message":"teapot"}' },
  'refuses: status 451: configure the gateway in front': { status: 451 },
  'failed: status 500: Oops: repeat the command': { status: 500, body: '<title>Oops</title>' },
  'failed: status 501: not here: repeat the command': { status: 501, body: '{"error":"not here"}' },
  'failed: status 504: 504 Gateway Time-out: repeat the command; if this happens again, raise the response timeout of the gateway':
    { status: 504, body: '<title>504 Gateway Time-out</title>' },
  'refuses: status 418: Zugriff blockiert – Büro: check': {
    status: 418,
    body: Buffer.from('\ufeff<title>Zugriff blockiert – Büro</title>', 'utf16le'),
  },
  'refuses: status 451: Verboten für alle: configure': {
    status: 451,
    headers: { 'content-type': 'text/html; charset=iso-8859-1' },
    body: Buffer.from('<title>Verboten für alle</title>', 'latin1'),
  },
  'refuses: status 511: Anmelden für alle: log in': {
    status: 511,
    headers: { 'content-type': 'text/html; charset=of-nobody' },
    body: 'Anmelden für alle',
  },
  'refuses: status 511: log in to the network of this machine': { status: 511 },
};
const pages = Object.entries(printedPages).map(([printed, page]) => ({ ...page, printed }));

describe('the page of a gateway', () => {
  it.each(pages)('is printed with its status, its sentence and a remedy: $status', async (page) => {
    const place = await servedPlace(sqlite);
    const url = await startGateway(place.url, (request) => (isPost(request) ? page : undefined));
    const file = await exportFileWith(organisation('acme'));
    const { code, stderr } = await identity(['import', file, '--to', url, '--token-file', place.tokenFile]);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`identity: ${url} ${page.printed.replace('http://SAME', url)}`),
    });
  });

  it.each(pages.filter(({ status }) => status !== 504))('is printed for the first call: $status', async (page) => {
    const url = await startServer((_request, response) => response.writeHead(page.status, page.headers).end(page.body));
    const { code, stderr } = await identity(['inspect', url, '--token-file', await tokenFileWith('some-token')]);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`identity: ${url} ${page.printed.replace('http://SAME', url)}`),
    });
  });

  it('is printed if it states that the first document is missing', async () => {
    const url = await startServer((_request, response) => response.writeHead(404).end('<h1>No such route</h1>'));
    const { code, stderr } = await identity(['inspect', url, '--token-file', await tokenFileWith('some-token')]);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `identity: ${url} is not an instance of this service (/openapi.json returns 404: No such route), nor a ZITADEL instance`,
      ),
    });
  });

  it.each(pages.filter(({ status }) => status !== 504 && status !== 204))(
    'is printed for a call of ZITADEL: $status',
    async (page) => {
      const { zitadel, tokenFile } = await filledZitadel([organisation('acme')]);
      const url = await startGateway(zitadel.url, ({ url: path = '' }) =>
        path.startsWith('/zitadel.') ? page : undefined,
      );
      const { code, stderr } = await identity(['inspect', url, '--token-file', tokenFile]);
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`identity: ${url} ${page.printed.replace('http://SAME', url)}`),
      });
    },
  );
});
