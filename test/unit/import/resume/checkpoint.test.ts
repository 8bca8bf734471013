import { describe, expect, it } from 'vitest';
import { checkpointKey } from '../../../../functions/import/resume/checkpoint.ts';
import type { Section } from '../../../../shared/organisation/section.ts';
import { sections } from '../../../../shared/organisation/sections.ts';

const [first, ...rest] = sections;
const changed = (change: Partial<Section>): readonly Section[] =>
  first === undefined ? [] : [{ ...first, ...change }, ...rest];

describe('the key of a checkpoint', () => {
  it.each<[string, readonly Section[]]>([
    ['moves a section to another phase', changed({ phase: first?.phase === 1 ? 2 : 1 })],
    ['renames a section', changed({ name: 'other' })],
    ['identifies records by something else', changed({ key: ['$orgId', 'other'] })],
    ['has one section less', rest],
  ])('is another one for software that %s', (_what, table) => {
    expect(checkpointKey('import', table)).not.toEqual(checkpointKey('import', sections));
  });

  it('is the same for the same import and table, and another one for another import', () => {
    expect(checkpointKey('import')).toEqual(checkpointKey('import'));
    expect(checkpointKey('other')).not.toEqual(checkpointKey('import'));
  });
});
