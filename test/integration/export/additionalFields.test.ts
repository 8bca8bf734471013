import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type JsonObject, valueAt } from '../../../shared/json/jsonObject.ts';
import type { KeptField, Section } from '../../../shared/organisation/section.ts';
import { recordSections } from '../../../shared/organisation/sections.ts';
import { everySection, recordsOf } from '../../support/fixtures/everySection.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { withValue } from '../../support/strings/fieldPlaces.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
const { PRONOUNS, MAX_BYTES } = vi.hoisted(() => ({ PRONOUNS: 'user.profile.chosenPronouns', MAX_BYTES: 20 }));

// Adds a text to people, as a contributor would.
vi.mock(import('../../../shared/organisation/sections/users.ts'), async (importOriginal) => {
  const original = await importOriginal();
  const { additional } = original.humanUserSection;
  const kept: KeptField[] = [...(additional?.kept ?? []), { path: PRONOUNS, type: 'text', maxBytes: MAX_BYTES }];
  return { ...original, humanUserSection: { ...original.humanUserSection, additional: { ...additional, kept } } };
});

interface Place<Field> {
  readonly section: Section;
  readonly field: Field;
}

const keptFields = recordSections.flatMap((section) =>
  (section.additional?.kept ?? []).map((field): Place<KeptField> => ({ section, field })),
);
const ignoredFields = recordSections.flatMap((section) =>
  (section.additional?.ignored ?? []).map((field) => ({ section, field })),
);

function anyValue(field: KeptField): fc.Arbitrary<string | boolean> {
  if (field.type === 'boolean') return fc.boolean();
  if (field.type === 'state') return fc.constantFrom(...field.states);
  return fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => Buffer.byteLength(text) <= field.maxBytes && !text.includes('\0'));
}

const anyValues = fc.tuple(...keptFields.map(({ field }) => anyValue(field)));

/** Returns an organisation whose records all have some values of a section's fields. */
function withValues(
  org: Organisation,
  places: readonly Place<{ path: string }>[],
  values: readonly unknown[],
): Organisation {
  const changed = structuredClone(org);
  for (const [index, { section, field }] of places.entries())
    changed[section.name] = recordsOf(changed, section).map((json) =>
      withValue(json, field.path.split('.'), values[index]),
    );
  return changed;
}

/** The value that exports omit. */
function omitted(field: KeptField): unknown {
  return field.type === 'state' ? field.states[0] : false;
}

/** Returns the values of the kept fields of the first record of each section. */
function keptValues(org: Organisation | undefined): unknown[] {
  return keptFields.map(({ section, field }) => {
    const [first = {}]: JsonObject[] = org === undefined ? [] : recordsOf(org, section);
    return valueAt(first, field.path) ?? omitted(field);
  });
}

const newInstance = async () => await testInstance(await openTestStore());
const organisations = () => [everySection('acme', ['other']), everySection('other', [])];

async function imported(instance: TestInstance, orgs: readonly unknown[]) {
  const { errors, summary } = await instance.import({ data_orgs: { orgs }, with_keys: true });
  expect(errors).toBeUndefined();
  return summary;
}

describe('a field that only this service has', () => {
  it('keeps each value in an import, an export, and an import elsewhere', async () => {
    expect(keptFields.length).toBeGreaterThan(6);
    await fc.assert(
      fc.asyncProperty(anyValues, async (values) => {
        const [source, target] = [await newInstance(), await newInstance()];
        const [acme, other] = organisations();
        if (acme === undefined) throw new Error('there is no organisation');
        const { notCarried } = await imported(source, [withValues(acme, keptFields, values), other]);
        expect(notCarried).toEqual({});
        const first = await source.export();
        expect(keptValues(first.orgs.find(({ orgId }) => orgId === 'acme'))).toEqual(values);
        const again = JSON.parse(first.bytes);
        const summary = await imported(target, again.orgs);
        expect(summary.notCarried).toEqual({});
        const second = await target.export();
        expect(second.orgs).toEqual(first.orgs);
        expect(second.manifest.digest).toBe(first.manifest.digest);
        const { created, unchanged } = await imported(source, second.orgs);
        expect({ created, counts: unchanged.humanUsers }).toEqual({
          created: {},
          counts: first.manifest.counts.humanUsers,
        });
      }),
      { numRuns: 5 },
    );
  });

  it('may have either spelling, and must have its type', async () => {
    const instance = await newInstance();
    const named = (profile: object) => ({
      data_orgs: {
        orgs: [
          organisation('O', { humanUsers: [person('A', { profile: { firstName: 'A', lastName: 'B', ...profile } })] }),
        ],
      },
    });
    const twice = await instance.import(named({ chosenPronouns: 'she', chosen_pronouns: 'she' }));
    expect(twice.errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${PRONOUNS}: duplicate field "chosen_pronouns"`),
    ]);
    const wrong = await instance.import(named({ chosenPronouns: 1 }));
    expect(wrong.errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${PRONOUNS}: expected text`),
    ]);
    await instance.import(named({ chosen_pronouns: 'she' }));
    const { orgs } = await instance.export();
    expect(orgs).toMatchObject([{ humanUsers: [{ user: { profile: { chosenPronouns: 'she' } } }] }]);
  });

  it('costs the record if it exceeds its greatest length', async () => {
    const instance = await newInstance();
    const profile = { firstName: 'A', lastName: 'B', chosenPronouns: 'é'.repeat(MAX_BYTES / 2 + 1) };
    const { errors } = await instance.import({
      data_orgs: { orgs: [organisation('O', { humanUsers: [person('A', { profile })] })] },
    });
    const message = `ID=IMPORT-tooLong Message=${PRONOUNS}: value length must be at most ${MAX_BYTES} bytes`;
    expect(errors).toMatchObject([{ type: 'human_user', id: 'A', message }]);
  });
});

describe('an ignored field', () => {
  it.each(ignoredFields)('is counted, and the record is imported: $section.name $field.path', async (place) => {
    const [acme, other] = organisations();
    if (acme === undefined) throw new Error('there is no organisation');
    const { notCarried } = await imported(await newInstance(), [withValues(acme, [place], ['text']), other]);
    const { section, field } = place;
    expect(notCarried).toEqual({ [`${section.name}.${field.path}`]: recordsOf(acme, section).length });
  });
});
