import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sections } from '../../../shared/organisation/allSections.ts';
import { keptFields } from '../../../shared/organisation/keptFields.ts';

const items = readFileSync('docs/specification.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('- `'));
const fields = sections.flatMap((section) => keptFields(section).map(({ path }) => ({ path, section: section.name })));

it.each(fields)('the specification describes the field $path of $section', ({ path, section }) => {
  const described = items.filter((item) => item.startsWith(`- \`${path}\``) && item.includes(`\`${section}\``));
  expect(described).toHaveLength(1);
});
