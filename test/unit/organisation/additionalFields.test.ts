import { expect, it } from 'vitest';
import { splitKept } from '../../../shared/organisation/additionalFields.ts';
import { recordSections } from '../../../shared/organisation/sections.ts';
import { everySection, recordsOf } from '../../support/fixtures/everySection.ts';
import { withValue } from '../../support/strings/fieldPlaces.ts';

const withKept = recordSections.flatMap((section) =>
  (section.additional?.kept ?? []).map(({ path }) => ({ section, name: section.name, path })),
);

it.each(withKept)(
  'a record of $name with the field $path is decoded as if it did not have the field',
  ({ section, path }) => {
    const [given = {}] = recordsOf(everySection('acme', ['other']), section);
    const record = splitKept(section, given).defined;
    const json = withValue(record, path.split('.'), 'value');
    const { defined, found } = splitKept(section, json);
    expect(found).toMatchObject([{ field: { path }, values: ['value'] }]);
    expect(defined).toEqual(record);
  },
);
