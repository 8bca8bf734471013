/** The grey and the colours are legible on white and on black: images cannot ask which page they are on. */
export const GREY = '#767d85';
const COLOURS = ['#2f7fd6', '#d2601a', '#2b9348', '#a855c7', '#b8860b', '#d6336c'];

export const WIDTH = 800;

/** Returns the colour of a series by its index. */
export function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? GREY;
}

/** Writes a number as a label. */
export function print(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 6 });
}

/** Writes a `text` element; `more` holds further attributes. */
export function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', more = ''): string {
  const attributes = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${more && ` ${more}`}`;
  return `<text ${attributes}>${escapeXml(content)}</text>`;
}

/** Escapes text for content and attributes. */
export function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Writes a drawing of this height as an SVG document with its title. */
export function svgDocument(title: string, height: number, content: readonly string[]): string {
  const attributes = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img"`;
  return [
    `<svg ${attributes} font-family="sans-serif" font-size="12" fill="${GREY}">`,
    `<title>${escapeXml(title)}</title>`,
    text(WIDTH / 2, 16, title, 'middle', 'font-weight="bold"'),
    ...content,
    '</svg>',
    '',
  ].join('\n');
}
