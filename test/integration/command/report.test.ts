import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultBlocks } from '../../../cli/migrate/migrationBlocks.ts';
import { renderPage } from '../../../cli/report/page.ts';
import { migrationResult, resultOrganisations } from '../../support/migrationResult.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { findBrowser, launchBrowser, noBrowser } from '../repository/browser/openPage.ts';

const program = await findBrowser();
if (program === undefined) process.stdout.write(`skipped: ${noBrowser}\n`);

/** The pictures are kept where this names a directory, for people to look at. */
const { REPORT_PICTURES } = process.env;
const LONG = 'x'.repeat(300);

describe.skipIf(program === undefined)('the report of a migration in a browser', () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchBrowser(program ?? '');
  });
  afterAll(() => browser?.close());

  /** Opens a report as a file, as people do, and collects what its page asks for. */
  async function open(result: ReturnType<typeof migrationResult>, width: number, colorScheme: 'light' | 'dark') {
    if (browser === undefined) throw new Error('the browser has not started');
    const path = join(await testDirectory(), 'report.html');
    await writeFile(path, renderPage('Migration', resultBlocks(result)));
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const requests: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    const { href } = pathToFileURL(path);
    await page.goto(href);
    expect({ requests, faults }).toEqual({ requests: [href], faults: [] });
    return page;
  }

  async function keepPicture(page: Page, name: string) {
    const picture = await page.screenshot({ fullPage: true });
    expect(picture.byteLength).toBeGreaterThan(10_000);
    if (REPORT_PICTURES !== undefined) await writeFile(join(REPORT_PICTURES, `${name}.png`), picture);
  }

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('fits into %i pixels, %s', async (width, colorScheme) => {
    const page = await open(migrationResult(), width, colorScheme);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await smallestText(page)).toBeGreaterThanOrEqual(12);
    expect(await leastContrast(page)).toBeGreaterThanOrEqual(4.5);
    await keepPicture(page, `report-${width}-${colorScheme}`);
  });

  it('fits with long names, addresses and messages', async () => {
    const [organisation] = resultOrganisations(1);
    const side = { place: `https://${LONG}.example.com`, kind: 'instance' };
    const note = { type: 'human_user', id: LONG, message: LONG };
    const page = await open(
      migrationResult({
        source: side,
        target: side,
        errors: [note],
        organisations: organisation === undefined ? [] : [{ ...organisation, name: LONG, orgId: LONG }],
      }),
      390,
      'light',
    );
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  it('is printed in dark on white, without a cut', async () => {
    const page = await open(migrationResult(), 1280, 'dark');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await leastContrast(page)).toBeGreaterThanOrEqual(4.5);
    const paper = await page.pdf({ format: 'A4' });
    expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
    if (REPORT_PICTURES !== undefined) await writeFile(join(REPORT_PICTURES, 'report.pdf'), paper);
  });
});

/** The size of the smallest text, in pixels. */
function smallestText(page: Page): Promise<number> {
  return page.evaluate(`Math.min(...[...document.querySelectorAll('body *')]
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
    .map((one) => parseFloat(getComputedStyle(one).fontSize)))`);
}

/** The least contrast of a text with what is behind it, as WCAG computes it. */
function leastContrast(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (one) => {
      for (let at = one; at !== null; at = at.parentElement) {
        const [r, g, b, alpha = 1] = parse(getComputedStyle(at).backgroundColor);
        if (alpha > 0) return [r, g, b];
      }
      return [255, 255, 255];
    };
    return Math.min(...[...document.querySelectorAll('body *')]
      .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
      .map((one) => {
        const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      }));
  })()`);
}
