import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functions } from '../../../functions/endpoints.ts';

const document = readFileSync(new URL('../../../docs/reliability/fuzzing.md', import.meta.url), 'utf8');
const sections = new Map(
  document.split('\n## ').map((section): [string, string] => [section.split('\n')[0] ?? '', section]),
);

describe('docs/reliability/fuzzing.md', () => {
  it.each(Object.keys(functions))('has a run of at least 100,000 requests to %s', (name) => {
    const [, figure = ''] = /^([\d,]+) requests in /m.exec(sections.get(name) ?? '') ?? [];
    expect(Number(figure.replaceAll(',', ''))).toBeGreaterThanOrEqual(100_000);
  });
});
