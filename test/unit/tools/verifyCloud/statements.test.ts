import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../../../tools/program.ts';
import { statements, unsettled } from '../../../../tools/verifyCloud/statements.ts';
import { steps } from '../../../../tools/verifyCloud/steps.ts';
import { tableUnder } from '../../../support/documents/documentation.ts';

const operations = await readFile(join(root, 'docs/operations-google-cloud.md'), 'utf8');

/** What stands before each mark, without the sentence that explains the marks. */
const marked = operations
  .split('\n')
  .flatMap((line) => [...line.matchAll(/(?<=\S) \*(?=[\s.,;:|)]|$)/g)].map(({ index }) => line.slice(0, index)))
  .filter((text) => !text.endsWith('Statements marked'));

/** The rows of Sources that the first run settles. */
const open = tableUnder(operations, 'Sources')
  .map((cells) => cells.join(' | '))
  .filter((row) => row.includes('to be settled by the first real run'));

const texts = Object.values(statements).flat();

describe('the statements of the run', () => {
  it('name each mark of docs/operations-google-cloud.md once', () => {
    expect(marked.length).toBeGreaterThan(20);
    for (const text of marked) {
      const names = texts.filter((statement) => text.endsWith(statement));
      expect(names, text).toHaveLength(1);
    }
  });

  it('name each row of Sources that a run settles', () => {
    expect(open.length).toBeGreaterThan(5);
    for (const row of open)
      expect(
        texts.filter((statement) => row.includes(statement)),
        row,
      ).not.toEqual([]);
  });

  it('stand in docs/operations-google-cloud.md', () => {
    expect(texts.filter((text) => !operations.includes(text))).toEqual([]);
  });

  it('are settled by a step, or have the reason why not, never both', () => {
    const settled = new Set<string>(steps.flatMap(({ settles }) => settles));
    for (const name of Object.keys(statements)) expect([name, settled.has(name)]).toEqual([name, !(name in unsettled)]);
  });
});
