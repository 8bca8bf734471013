import { once } from 'node:events';
import { access, constants, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, extname, join, normalize } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { serverUrl } from '../../../../shared/http/server.ts';
import { root } from '../../../../tools/program.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const types = new Map([
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
]);

/** Why tests in a browser are skipped. */
export const noBrowser = `none of ${names.join(', ')} is on the PATH: install Debian's package chromium`;

/** The browser's program; undefined where none is installed. */
export async function findBrowser(): Promise<string | undefined> {
  const directories = (process.env.PATH ?? '').split(delimiter);
  for (const path of names.flatMap((name) => directories.map((directory) => join(directory, name)))) {
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** A page in a headless browser, and the origin that it is of. */
export interface OpenPage {
  readonly origin: string;
  readonly page: Page;
  close(): Promise<void>;
}

/** Serves the page of `test/fixtures/browser` and the packages that it imports, as they are installed. */
export async function servePage(): Promise<{ origin: string; close(): void }> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = url === '/' ? 'test/fixtures/browser/page.html' : normalize(new URL(url, 'http://a').pathname);
    try {
      const content = await readFile(join(root, path));
      response.writeHead(200, { 'content-type': types.get(extname(path)) ?? 'application/octet-stream' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: serverUrl(server), close: () => void server.close().closeAllConnections() };
}

/** Launches a browser without a window. */
export function launchBrowser(program: string): Promise<Browser> {
  return chromium.launch({ executablePath: program, args: sandbox() });
}

/** Opens a page, and waits until its scripts have run. */
export async function openPage(program: string, origin: string): Promise<OpenPage> {
  const browser = await launchBrowser(program);
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction("document.title === 'ready'");
  return { origin, page, close: () => browser.close() };
}

// Chromium refuses to run as root within its sandbox, and containers are root.
function sandbox(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}
