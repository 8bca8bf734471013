import { isFailure, notes, type Result } from './report.ts';

/** The results in the form of JUnit, as build servers read it. */
export function junit(results: readonly Result[], reference: string): string {
  const skipped = results.filter(({ outcome }) => outcome.kind === 'not run').length;
  const counts = `tests="${results.length}" failures="${results.filter(isFailure).length}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conformance" ${counts} errors="0">`,
    `  <testsuite name="reference ${reference}" ${counts} errors="0">`,
    ...results.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(result: Result): string {
  const { name, origin, feature } = result.row;
  const start = `    <testcase classname="${escaped(`${origin} (${feature})`)}" name="${escaped(name)}"`;
  const child = childOf(result);
  return child === undefined ? `${start}/>` : `${start}>${child}</testcase>`;
}

function childOf(result: Result): string | undefined {
  const [first = '', ...others] = notes(result);
  if (isFailure(result))
    return `<failure message="${escaped(first)}">${escaped([first, ...others].join('\n'))}</failure>`;
  if (result.outcome.kind === 'not run') return `<skipped message="${escaped(first)}"/>`;
  return result.outcome.kind === 'decided' ? `<system-out>${escaped(first)}</system-out>` : undefined;
}

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML can hold most characters as references, but control characters and lone surrogates in no way. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[&<>"]/g, (character) => references[character] ?? '')
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
