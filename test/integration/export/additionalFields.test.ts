import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isJsonObject, type JsonObject, valueAt } from '../../../shared/json/jsonObject.ts';
import { recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { type AdditionalField, keptFields } from '../../../shared/organisation/keptFields.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { everySection, recordsOf } from '../../support/fixtures/everySection.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
const { KEPT, FLAG, IGNORED, MAX_BYTES } = vi.hoisted(() => ({
  KEPT: 'ownNote',
  FLAG: 'ownFlag',
  IGNORED: 'otherNote',
  MAX_BYTES: 20,
}));

// Adds a kept text, a kept flag and an ignored field to every object of every section, as a contributor would.
vi.mock(import('../../../shared/organisation/allSections.ts'), async (importOriginal) => {
  const original = await importOriginal();
  const { objectsOf } = await import('./additionalFields/objectsOf.ts');
  for (const section of original.recordSections) {
    const { kept = [], ignored = [] } = section.additional ?? {};
    const objects = objectsOf(section);
    const added = objects
      .filter(({ mayKeep }) => mayKeep)
      .flatMap(({ prefix }) => [
        { path: `${prefix}${KEPT}`, type: 'text', maxBytes: MAX_BYTES },
        { path: `${prefix}${FLAG}`, type: 'boolean' },
      ]);
    Object.assign(section, {
      additional: {
        kept: [...kept, ...added],
        ignored: [...ignored, ...objects.map(({ prefix }) => ({ path: `${prefix}${IGNORED}`, reason: 'a test' }))],
      },
    });
  }
  return original;
});

interface Place<Field> {
  readonly section: Section;
  readonly field: Field;
}

const allKept = recordSections.flatMap((section) =>
  keptFields(section).map((field): Place<AdditionalField> => ({ section, field })),
);
const allIgnored = recordSections.flatMap((section) =>
  (section.additional?.ignored ?? []).map((field) => ({ section, field })),
);

function anyValue(field: AdditionalField): fc.Arbitrary<string | boolean> {
  if (field.type === 'boolean' || field.type === 'factor') return fc.boolean();
  if (field.type === 'state') return fc.constantFrom(...field.states);
  return fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => Buffer.byteLength(text) <= field.maxBytes && !text.includes('\0'));
}

const anyValues = fc.tuple(...allKept.map(({ field }) => anyValue(field)));

/** Returns a JSON value with a value at the end of the steps, in each element of the lists on the way that it has. */
function withEach(json: unknown, [step = '', ...others]: readonly string[], value: unknown): unknown {
  if (Array.isArray(json)) return json.map((element) => withEach(element, [step, ...others], value));
  const object = isJsonObject(json) ? json : {};
  if (others.length === 0) return { ...object, [step]: value };
  const isAbsentList = step === 'idps' && object.idps === undefined;
  return isAbsentList ? object : { ...object, [step]: withEach(object[step], others, value) };
}

/** Returns an organisation whose records all have some values of a section's fields. */
function withValues(
  org: Organisation,
  places: readonly Place<{ path: string }>[],
  values: readonly unknown[],
): Organisation {
  let changed: Organisation = structuredClone(org);
  for (const [index, { section, field }] of places.entries()) {
    const records = recordsOf(changed, section).map((json) => withEach(json, field.path.split('.'), values[index]));
    const [first] = records;
    if (section.name === 'org') changed = { ...changed, ...(isJsonObject(first) ? first : {}) };
    else changed[section.name] = Array.isArray(changed[section.name]) ? records : first;
  }
  return changed;
}

/** The value that exports omit. */
function omitted(field: AdditionalField): unknown {
  return field.type === 'state' ? field.states[0] : false;
}

/** Returns the values of the kept fields of the first record of each section. */
function keptValues(org: Organisation | undefined): unknown[] {
  return allKept.map(({ section, field }) => {
    const [first = {}]: JsonObject[] = org === undefined ? [] : recordsOf(org, section);
    return valueAt(first, field.path) ?? omitted(field);
  });
}

const newInstance = async () => await testInstance(await openTestStore());

const people = { section: recordSection('humanUsers') };

/** Returns two organisations, whose people have the objects that are invalid without a field of ZITADEL. */
function organisations(): [Organisation, Organisation] {
  const phone = { ...people, field: { path: 'user.phone.phone' } };
  return [withValues(everySection('acme', ['other']), [phone], ['+41791234567']), everySection('other', [])];
}

/** Returns an organisation whose records all have some values, and whose links all are records of their section. */
function withTexts(org: Organisation, places: readonly Place<{ path: string }>[], values: readonly unknown[]) {
  const links = { ...people, field: { path: 'user.idps' } };
  return withValues(org, [links, ...places], [undefined, ...values]);
}

/** Imports a file, as its text or as organisations. */
async function imported(instance: TestInstance, file: string | readonly unknown[]) {
  const data_orgs = typeof file === 'string' ? JSON.parse(file) : { orgs: file };
  const { errors, summary } = await instance.import({ data_orgs, with_keys: true });
  expect(errors).toBeUndefined();
  return summary;
}

describe('a field that only this service has', () => {
  it('keeps each value in an import, an export, and an import elsewhere, wherever it is declared', async () => {
    expect(allKept.length).toBeGreaterThan(160);
    await fc.assert(
      fc.asyncProperty(anyValues, async (values) => {
        const [source, target] = [await newInstance(), await newInstance()];
        const [acme, other] = organisations();
        const { notCarried } = await imported(source, [withTexts(acme, allKept, values), other]);
        expect(notCarried).toEqual({});
        const first = await source.export();
        expect(keptValues(first.orgs.find(({ orgId }) => orgId === 'acme'))).toEqual(values);
        const summary = await imported(target, first.bytes);
        expect(summary).toMatchObject({ notCarried: {}, proved: true });
        const second = await target.export();
        expect(JSON.stringify(second.orgs)).toBe(JSON.stringify(first.orgs));
        expect(second.manifest.digest).toBe(first.manifest.digest);
        const { created, unchanged } = await imported(source, second.bytes);
        expect({ created, counts: unchanged.humanUsers }).toEqual({
          created: {},
          counts: first.manifest.counts.humanUsers,
        });
      }),
      { numRuns: 5 },
    );
  });

  it("keeps each value in an overwrite, which removes what the file lacks, as of ZITADEL's own fields", async () => {
    const instance = await newInstance();
    const [acme, other] = organisations();
    await imported(instance, [withTexts(acme, [], []), other]);
    const kept = allKept.filter(({ field }) => field.type === 'text' || field.type === 'boolean');
    const values = kept.map(({ field }, index) => field.type === 'boolean' || `v${index}`);
    const overwritten = async (org: Organisation) => {
      const data = { orgs: [org, other] };
      const { errors } = await instance.import({ data_orgs: data, with_keys: true, on_conflict: 'overwrite' });
      expect(errors).toBeUndefined();
      const { orgs } = await instance.export();
      const stored = orgs.find(({ orgId }) => orgId === 'acme');
      return kept.map(({ section, field }) => valueAt(recordsOf(stored ?? acme, section)[0] ?? {}, field.path));
    };
    expect(await overwritten(withTexts(acme, kept, values))).toEqual(values);
    expect(await overwritten(withTexts(acme, [], []))).toEqual(values.map(() => undefined));
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
    const path = `user.profile.${KEPT}`;
    const twice = await instance.import(named({ ownNote: 'she', own_note: 'she' }));
    expect(twice.errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${path}: duplicate field "own_note"`),
    ]);
    const wrong = await instance.import(named({ ownNote: 1 }));
    expect(wrong.errors?.map(({ message }) => message)).toEqual([expect.stringContaining(`${path}: expected text`)]);
    const flag = await instance.import(named({ ownFlag: 'true' }));
    expect(flag.errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining(`user.profile.${FLAG}: expected true or false`),
    ]);
    await instance.import(named({ own_note: 'she' }));
    const { orgs } = await instance.export();
    expect(orgs).toMatchObject([{ humanUsers: [{ user: { profile: { ownNote: 'she' } } }] }]);
  });

  it('costs the record if it exceeds its greatest length', async () => {
    const instance = await newInstance();
    const profile = { firstName: 'A', lastName: 'B', ownNote: 'é'.repeat(MAX_BYTES / 2 + 1) };
    const { errors } = await instance.import({
      data_orgs: { orgs: [organisation('O', { humanUsers: [person('A', { profile })] })] },
    });
    const message = `ID=IMPORT-tooLong Message=user.profile.${KEPT}: value length must be at most ${MAX_BYTES} bytes`;
    expect(errors).toMatchObject([{ type: 'human_user', id: 'A', message }]);
  });
});

/** Counts the values of a field in an organisation's records of a section. */
function countValues(org: Organisation, { section, field }: Place<{ path: string }>): number {
  const countIn = (json: unknown, [step = '', ...others]: readonly string[]): number => {
    if (Array.isArray(json)) return json.reduce((sum, element) => sum + countIn(element, [step, ...others]), 0);
    if (!isJsonObject(json) || json[step] === undefined) return 0;
    return others.length === 0 ? 1 : countIn(json[step], others);
  };
  const records = section.name === 'org' ? [org] : recordsOf(org, section);
  return records.reduce((sum, record) => sum + countIn(record, field.path.split('.')), 0);
}

describe('an ignored field', () => {
  it('is counted, and the record is imported, wherever it is declared', async () => {
    const declared = allIgnored.filter(({ field }) => field.path.includes(IGNORED));
    expect(declared.length).toBeGreaterThan(80);
    const [acme, other] = organisations();
    // A record has only one of these objects.
    const places = allIgnored.filter(({ field }) => !/\.loginV[12]\./.test(field.path));
    const org = withValues(
      acme,
      places,
      places.map(() => 'text'),
    );
    const { notCarried } = await imported(await newInstance(), [org, other]);
    const counts = places.map((place) => [nameOf(place), countValues(org, place)] as const);
    expect(notCarried).toEqual(Object.fromEntries(counts));
  });
});

function nameOf({ section, field }: Place<{ path: string }>): string {
  return section.name === 'org' ? field.path : `${section.name}.${field.path}`;
}
