import { describe, expect, it } from 'vitest';
import { splitKept } from '../../../shared/organisation/additionalFields.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { fieldFacts } from '../../../shared/organisation/fieldFacts.ts';
import { keptFields } from '../../../shared/organisation/keptFields.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { allReleases } from '../../../shared/organisation/zitadelReleases.ts';
import { fieldsOf } from '../../../tools/docs/sectionsTable.ts';
import { everySection, recordsOf } from '../../support/fixtures/everySection.ts';
import { withValue } from '../../support/strings/fieldPlaces.ts';

const withKept = recordSections.flatMap((section) =>
  keptFields(section).map(({ path }) => ({ section, name: section.name, path })),
);

it.each(withKept)(
  'a record of $name with the field $path is decoded as if it did not have the field',
  ({ section, path }) => {
    const [given = {}] = recordsOf(everySection('acme', ['other']), section);
    const record = splitKept(section, given).defined;
    const json = withValue(record, path.split('.'), 'value');
    const { defined, presentFields } = splitKept(section, json);
    expect(presentFields).toMatchObject([{ declared: { field: { path } }, value: 'value' }]);
    expect(defined).toEqual(record);
  },
);

it('a record with a kept field keeps its unknown field __proto__, which the import reports', () => {
  const json: unknown = JSON.parse('{"otpEmail":true,"__proto__":{"isKnown":true}}');
  expect(JSON.stringify(splitKept(recordSection('humanUsers'), json).defined)).toBe('{"__proto__":{"isKnown":true}}');
});

it('a kept text is a fact about imports into ZITADEL, with a manual step for the records that have it', () => {
  const fact = fieldFacts(declaring('humanUsers', 'kept', 'user.note')).find(({ fields }) =>
    fields.includes('user.note'),
  );
  expect(fact).toMatchObject({ does: 'imports not', text: 'ZITADEL does not have the field `user.note`' });
  const applies = (user: object) =>
    fact?.steps?.map((step) => step.applies?.({ id: 'u', body: JSON.stringify({ user }) }, allReleases));
  expect([applies({ note: 'n' }), applies({})]).toEqual([[true], [false]]);
  const [step] = fact?.steps ?? [];
  expect(step).toMatchObject({ reason: 'field_not_imported', because: 'ZITADEL does not have the field `{field}`' });
  expect(step?.params?.({ id: 'u' }, allReleases)).toEqual({ field: 'user.note' });
});

it('a kept text is documented with its greatest length', () => {
  expect(fieldsOf(declaring('actions', 'kept', 'note'))).toMatch(/(?:^|, )`note` at most 10 bytes(?:,|;)/);
});

/** Returns a section with a declared field. */
function declaring(name: string, list: 'kept' | 'ignored', ...paths: readonly string[]): Section {
  const kept = paths.map((path) => ({ path, type: 'text', maxBytes: 10 }) as const);
  const ignored = paths.map((path) => ({ path, reason: 'none' }));
  return { ...recordSection(name), additional: list === 'kept' ? { kept } : { kept: [], ignored } };
}

describe('the declaration of an additional field', () => {
  it.each([
    ['kept', 'humanUsers', ['note', 'user.note', 'user.profile.note']],
    ['kept', 'org', ['org.slogan']],
    ['ignored', 'humanUsers', ['note', 'user.hashedPassword.algorithm', 'user.idps.note']],
    ['ignored', 'org', ['slogan']],
  ] as const)('is accepted: %s of %s: %s', (list, name, paths) => {
    expect(() => splitKept(declaring(name, list, ...paths), {})).not.toThrow();
  });

  it.each([
    ['kept', 'humanUsers', 'hr.costCentre', 'must be in one of these objects: the record itself, user, user.profile'],
    ['kept', 'humanUsers', 'user.hashedPassword.note', 'must be in one of these objects: '],
    ['kept', 'humanUsers', 'user.idps.note', 'must be in one of these objects: '],
    ['kept', 'oidcApps', 'app.loginVersion.loginV2.note', 'must be in one of these objects: '],
    ['ignored', 'org', 'humanUsers.note', 'must be in one of these objects: the record itself, org'],
    ['kept', 'org', 'slogan', 'must be in one of these objects: org'],
    ['kept', 'humanUsers', 'user.profile.nickName', "is a field of ZITADEL's definition: remove the declaration"],
    ['kept', 'humanUsers', 'user.cost_centre', 'must have a name in camel case'],
    ['kept', 'actions', 'state', 'is declared twice'],
    ['kept', 'humanUsers', 'constructor', 'must have another name, because all objects or records have this one'],
    ['kept', 'humanUsers', 'user.toString', 'must have another name, because all objects or records have this one'],
    ['kept', 'humanUsers', 'orgId', 'must have another name, because all objects or records have this one'],
    ['ignored', 'humanUsers', 'valueOf', 'must have another name, because all objects or records have this one'],
    ['ignored', 'humanUsers', 'hr.costCentre', 'must be in one of these objects: '],
    ['ignored', 'humanUsers', 'user.profile.nickName', "is a field of ZITADEL's definition: remove the declaration"],
  ] as const)('is refused: %s of %s: %s', (list, name, path, problem) => {
    expect(() => splitKept(declaring(name, list, path), {})).toThrow(
      `the additional field ${path} of ${name} ${problem}`,
    );
  });
});
