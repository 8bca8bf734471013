import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { expectError, send } from '../../support/http/wire.ts';
import { init, serveHosted } from '../../support/instances/commandInstance.ts';
import { startLocal } from '../../support/instances/localStart.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { findBrowser, launchBrowser, noBrowser } from '../repository/browser/openPage.ts';

const files = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
] as const;
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
/** Returns the contrast of two colours, from 1 to 21, as WCAG 2 defines it. */
function contrast(...colours: readonly [string, string]): number {
  const [dark = 0, light = 0] = colours.map(luminance).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const linear = (share: number) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
  const [red = 0, green = 0, blue = 0] = (colour.match(/../g) ?? []).map((hex) =>
    linear(Number.parseInt(hex, 16) / 255),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

/** Starts `identity serve` on a new instance, and resolves with its base URL. */
async function serveNew(...more: readonly string[]): Promise<string> {
  const directory = resources.adopt(await temporaryDirectory(), (made) => made.remove());
  await init(['--data', directory.path]);
  const running = await serveHosted(['--data', directory.path], more);
  resources.adopt(running, async (started) => void (await started.stop()));
  return running.ready[1] ?? '';
}

describe('identity serve --docs', () => {
  let url = '';
  beforeAll(async () => {
    url = await serveNew('--docs');
  });

  it('redirects browsers from / to /docs, and responds to probes there', async () => {
    const response = await fetch(`${url}/`, { redirect: 'manual', headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(await (await fetch(`${url}/`, { redirect: 'manual' })).text()).toBe('{"status":"ok"}');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  it.each(files)('serves %s as %s, and permits nothing of another origin', async (path, type) => {
    const { status, headers, text } = await send({ url }, { method: 'GET', path });
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(text.length).toBeGreaterThan(0);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('refers only to its own files, without a script or a style in the page', async () => {
    const { text } = await send({ url }, { method: 'GET', path: '/docs' });
    const paths = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, path = '']) => path);
    const served = files.map(([path]) => path).filter((path) => path !== '/docs');
    expect(new Set(paths)).toEqual(new Set([...served, '/openapi.json', 'data:,']));
    expect(text).not.toMatch(/<style|<script>|style=| on\w+=/);
    for (const path of ['/docs', '/docs/page.js', '/docs/page.css'])
      expect((await send({ url }, { method: 'GET', path })).text).not.toMatch(/\w:\/\/|['"(]\/\//);
  });

  it('serves the page for /docs/ too', async () => {
    const [page, withSlash] = await Promise.all(
      ['/docs', '/docs/'].map((path) => send({ url }, { method: 'GET', path })),
    );
    expect([withSlash?.status, withSlash?.text]).toEqual([200, page?.text]);
  });

  it.each([
    '/docs/package.json',
    '/docs/swagger-ui-bundle.js.map',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
  ])('has no %s', async (path) => {
    expect(await askRaw(path)).toEqual([404, expect.objectContaining({ code: 5 })]);
  });

  it.each(['/docs/../package.json', '/docs/../swagger-ui-dist/package.json', '/docs/%2e%2e/package.json'])(
    'rejects %s, whose dot segments lead out of it',
    async (path) => {
      expect(await askRaw(path)).toEqual([400, expect.objectContaining({ code: 3 })]);
    },
  );

  /** Sends a path unchanged, because clients resolve its dot segments. */
  async function askRaw(path: string): Promise<readonly [number, unknown]> {
    const socket = await openConnection(url);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const { status, body } = await readAnswer(socket);
    socket.destroy();
    return [status, JSON.parse(body)];
  }

  it('shows deprecated operations with a contrast of at least 4.5, and without Swagger UI’s opacity', async () => {
    const { text } = await send({ url }, { method: 'GET', path: '/docs/page.css' });
    const [, background = '', colour = ''] =
      /\.opblock-deprecated \.opblock-summary-method { background: #(\w{6}); color: #(\w{6})/.exec(text) ?? [];
    expect(contrast(background, colour)).toBeGreaterThanOrEqual(4.5);
    expect(text).toMatch(/\.opblock-deprecated { opacity: 1 }/);
    expect(contrast('ebebeb', 'ffffff')).toBeLessThan(1.3);
  });

  it('is served for GET only', async () => {
    expectError(await send({ url }, { method: 'POST', path: '/docs' }), 405, 12);
  });
});

describe('identity serve without --docs', () => {
  it('has neither the page nor its files', async () => {
    const url = await serveNew();
    for (const [path] of files) expectError(await send({ url }, { method: 'GET', path }), 404, 5);
    const page = await send({ url }, { method: 'GET', path: '/', headers: { accept: 'text/html' } });
    expect(page).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });
});

const program = await findBrowser();
if (program === undefined) process.stdout.write(`skipped: ${noBrowser}\n`);

describe.skipIf(program === undefined)('the page of npm start, 390 pixels wide', () => {
  /** Opens the link that `npm start` prints; records the console output and the requested origins of the page. */
  async function open() {
    const directory = resources.adopt(await temporaryDirectory(), (made) => made.remove());
    const local = await startLocal({ directory: directory.path });
    resources.adopt(local, async (started) => void (await started.stop()));
    const browser = resources.adopt(await launchBrowser(program ?? ''), (launched) => launched.close());
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    page.setDefaultTimeout(20_000);
    const origins = new Set<string>();
    const messages: string[] = [];
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(error.message));
    await page.goto(/^docs {4}(\S+)/m.exec(local.program.stdout())?.[1] ?? '');
    return { page, origins, messages, url: local.sourceUrl };
  }
  type Opened = Awaited<ReturnType<typeof open>>;
  let opened: Opened | undefined;
  beforeAll(async () => {
    opened = await open();
  });

  const shown = (): Opened => {
    if (opened === undefined) throw new Error('the page is not open');
    return opened;
  };
  const operation = (id: string) => shown().page.locator(`[id$="-${id}"]`);
  /** Sends an operation's example, and returns the status and body of the response. */
  const tryOut = async (id: string) => {
    await operation(id).locator('.opblock-summary-control').click();
    await operation(id).getByRole('button', { name: 'Try it out' }).click();
    await operation(id).getByRole('button', { name: 'Execute' }).click();
    const response = operation(id).locator('.live-responses-table tbody');
    const status = await response.locator('.response-col_status').innerText();
    const body = await response.locator('.highlight-code code').first().innerText();
    return { status, body: z.record(z.string(), z.unknown()).parse(JSON.parse(body)) };
  };

  it('shows every operation and every schema of /openapi.json', async () => {
    const { page, url } = shown();
    const { text } = await send({ url }, { method: 'GET', path: '/openapi.json' });
    const { paths, components } = openApi.parse(JSON.parse(text));
    await page.getByRole('button', { name: 'Authorize', exact: true }).waitFor();
    const operations = await page.locator('.opblock-summary-path, .opblock-summary-path__deprecated').allTextContents();
    const described = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map(() => path));
    expect(operations.map((path) => path.replaceAll('\u200b', ''))).toEqual(described);
    const content = await page.locator('.models').innerText();
    for (const name of Object.keys(components.schemas)) expect(content).toContain(name);
  });

  it('has the token of the link, which disappears from the address', async () => {
    const { page, url } = shown();
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByRole('button', { name: 'Remove authorization' }).waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    expect(page.url()).toBe(`${url}/docs`);
  });

  it('is dark while the system is', async () => {
    const { page } = shown();
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    for (const [colorScheme, color] of [
      ['dark', 'rgb(28, 32, 34)'],
      ['light', 'rgba(0, 0, 0, 0)'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(background).toBe(color);
    }
  });

  it('exports to the response', async () => {
    const { status, body } = await tryOut('exportOrganisations');
    expect(status).toBe('200');
    expect(body.manifest).toMatchObject({ instance: 'source', counts: { orgs: 3 } });
  });

  it('imports the example', async () => {
    const { status, body } = await tryOut('importOrganisations');
    expect(status).toBe('200');
    expect(body.summary).toMatchObject({ dryRun: true, created: { org: 1 }, failed: {} });
  });

  it('removes the factor of the example', async () => {
    const { status, body } = await tryOut('removeOtpEmail');
    expect(status).toBe('200');
    expect(body.details).toMatchObject({ sequence: '2' });
  });

  it('lists the authentication methods that the person of the example keeps', async () => {
    const { status, body } = await tryOut('listAuthenticationMethodTypes');
    expect(status).toBe('200');
    const kept = ['AUTHENTICATION_METHOD_TYPE_TOTP', 'AUTHENTICATION_METHOD_TYPE_PASSWORD'];
    expect(body).toMatchObject({ details: { totalResult: '2' }, authMethodTypes: kept });
  });

  it('is no wider than the screen with all these sections open, calls no other origin and writes nothing to the console', async () => {
    const { page, origins, messages, url } = shown();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const texts = page.locator('tbody .response-col_description');
    const widths = await texts.evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
    expect(Math.min(...widths)).toBeGreaterThan(250);
    expect([...origins]).toEqual([url]);
    expect(messages).toEqual([]);
  });
});
