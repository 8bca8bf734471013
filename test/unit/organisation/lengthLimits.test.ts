import { ScalarType } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { sections } from '../../../shared/organisation/allSections.ts';
import { byteLimit, lengthIssue, needsLimit } from '../../../shared/organisation/lengthLimits.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';
import { type FieldPlace, fieldPlaces, withValueAt } from '../../support/strings/fieldPlaces.ts';

/** The fields of records without a limit of ZITADEL, except lists of v1 files and fields that repeat another id. */
const unlimited = fieldPlaces.filter(({ title, section, field }) => {
  return (
    !['domains.orgId', 'domainPolicy.orgId', 'machineUsers.user.userId'].includes(title) &&
    field !== undefined &&
    needsLimit(field) &&
    sections.some(({ name }) => name === section)
  );
});

function issueOf(place: FieldPlace, value: unknown) {
  const [record] = [withValueAt(place, value)[place.section]].flat();
  return lengthIssue(readRecord(sectionNamed(place.section), record, 'o'));
}

/** Texts of the maximum length, and one longer; for bytes, their base64. */
function atLimit({ field }: FieldPlace, length: number): [fits: string, exceeds: string] {
  if (field?.scalar === ScalarType.BYTES) return ['A'.repeat(length), 'A'.repeat(length + 4)];
  return ['x'.repeat(length), 'x'.repeat(length + 1)];
}

describe('a text without a limit of ZITADEL', () => {
  it.each(unlimited.map((place) => [place.title, place] as const))('in %s has one of this service', (title, place) => {
    const limit = place.field === undefined ? 0 : byteLimit(place.field);
    const [fits, exceeds] = atLimit(place, limit);
    expect(issueOf(place, fits)).toBeUndefined();
    const { id, key } = issueOf(place, exceeds) ?? {};
    expect(id).toBe('IMPORT-tooLong');
    const path = title.slice(place.section.length + 1);
    expect(key?.replaceAll('[0]', '')).toBe(`${path}: value length must be at most ${limit} bytes`);
  });

  it('is counted in bytes', () => {
    const domain = unlimited.find(({ title }) => title === 'domains.domainName');
    if (domain === undefined) throw new Error('no such field');
    expect(issueOf(domain, '😀'.repeat(650))).toBeUndefined();
    expect(issueOf(domain, '😀'.repeat(651))).toBeDefined();
  });
});

describe('a list of a record', () => {
  /** Lists of texts and of messages; names of enumerations are excluded. */
  const lists = new Map(
    fieldPlaces
      .filter(({ section, field }) => sections.some(({ name }) => name === section) && field?.enum === undefined)
      .flatMap(({ steps, ...place }) => {
        const end = steps.indexOf(0);
        const list = { ...place, steps: steps.slice(0, end) };
        const title = [place.section, ...list.steps].join('.');
        return end < 0 ? [] : [[title, { list, element: end < steps.length - 1 ? {} : 'x' }] as const];
      }),
  );

  it.each([...lists])('in %s has at most 5,000 elements', (title, { list, element }) => {
    const issueWith = (elements: number) => issueOf(list, Array(elements).fill(element));
    expect(issueWith(5_000)).toBeUndefined();
    const { id, key } = issueWith(5_001) ?? {};
    expect(id).toBe('IMPORT-tooLong');
    const path = title.slice(list.section.length + 1);
    expect(key).toBe(`${path}: value must contain at most 5000 item(s)`);
  });
});

it('a text of a key, a name or a reference is short', () => {
  const paths = sections.flatMap(({ name, key, unique = [], references = [], error }) =>
    [...key, ...unique.flatMap(({ parts }) => parts), ...references.flatMap((one) => one.key), ...error.id]
      .filter((path) => !/^[$=]/.test(path))
      .map((path) => `${name}.${path.replaceAll(/\[.*?\]/g, '')}`),
  );
  const long = unlimited
    .filter(({ field }) => field !== undefined && byteLimit(field) > 2_600)
    .map(({ title }) => title);
  expect(paths.length).toBeGreaterThan(90);
  expect(paths.filter((path) => long.includes(path))).toEqual([]);
});
