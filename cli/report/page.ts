import { numberText } from '../terminal/numberTexts.ts';
import type { Line } from '../terminal/terminal.ts';
import type { Bar, Block } from './blocks.ts';
import { type Html, html } from './html.ts';
import { style } from './style.ts';

/** Prints blocks as a single page without scripts and without external resources. The page lists all items. */
export function renderPage(title: string, blocks: readonly Block[]): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style}</style></head><body>
<h1>${title}</h1>
${blocks.map(renderBlock)}
<footer><p class="soft">This page contains no secrets.</p></footer>
</body></html>
`.toString();
}

function renderBlock({ title, lines, picture = [] }: Block): Html | undefined {
  if (title === undefined) return html`${lines.map(renderVerdict)}`;
  if (lines.length + picture.length === 0) return undefined;
  return html`<section><h2>${title}</h2>
${renderPicture(picture)}<ul>${lines.map((line) => renderLine(line))}</ul></section>\n`;
}

function renderVerdict(line: Line): Html {
  const { text, style: tone } = typeof line === 'string' ? { text: line, style: 'good' } : line;
  return html`<p class="verdict ${tone}">${text}</p>\n`;
}

function renderLine(line: Line): Html {
  if (typeof line === 'string') return html`<li>${line}</li>\n`;
  const { text, style: tone, isCommand } = line;
  return isCommand === true
    ? html`<li class="command"><pre>${text}</pre></li>\n`
    : html`<li class="${tone ?? ''}">${text}</li>\n`;
}

function renderPicture(bars: readonly Bar[]): Html | undefined {
  if (bars.length === 0) return undefined;
  const longest = Math.max(1, ...bars.map(({ parts }) => sizeOf(parts)));
  const parts = ({ parts: barParts }: Bar) =>
    barParts
      .filter(({ count }) => count > 0)
      .map(({ name, count, tone }) => {
        const width = ((100 * count) / longest).toFixed(2);
        return html`<span class="${tone}" style="width:${width}%" title="${numberText(count)} ${name}"></span>`;
      });
  const legend = ({ parts: barParts }: Bar) =>
    barParts
      .filter(({ count }) => count > 0)
      .map(({ name, count }) => `${numberText(count)} ${name}`)
      .join(', ');
  const rows = bars.map(
    (bar) =>
      html`<dt>${bar.name}</dt><dd><div class="bar">${parts(bar)}</div><span class="soft">${legend(bar)}</span></dd>\n`,
  );
  return html`<dl class="picture">${rows}</dl>\n`;
}

function sizeOf(parts: Bar['parts']): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}
