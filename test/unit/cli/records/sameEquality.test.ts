import { isDeepStrictEqual } from 'node:util';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { explain } from '../../../../cli/migrate/explanations.ts';
import { RunDatabase } from '../../../../cli/records/runDatabase.ts';
import type { RecordConflict } from '../../../../functions/import/contract.ts';
import { isEqual } from '../../../../functions/import/decide/storedEquality.ts';
import { isJsonObject, type JsonObject, parseObject, putAt } from '../../../../shared/json/jsonObject.ts';
import { organisationSection, recordSections } from '../../../../shared/organisation/allSections.ts';
import { fillForExport } from '../../../../shared/organisation/fillForExport.ts';
import { type AdditionalField, keptFields } from '../../../../shared/organisation/keptFields.ts';
import { InvalidRecordError } from '../../../../shared/organisation/message.ts';
import { normaliseRecord } from '../../../../shared/organisation/normaliseRecord.ts';
import { type OrganisationRecord, readRecord, storedFields, toRecord } from '../../../../shared/organisation/record.ts';
import { planRecord } from '../../../../shared/organisation/recordPlan.ts';
import { recordSchema } from '../../../../shared/organisation/recordSchema.ts';
import type { Provider, Section } from '../../../../shared/organisation/sections/section.ts';
import { documentPath } from '../../../../shared/store/store.ts';
import { everySection, recordsOf } from '../../../support/fixtures/everySection.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';
import { withValue } from '../../../support/strings/fieldPlaces.ts';
import { fillIn } from '../../../support/zitadel/fillIn.ts';

const all = recordSections;
const organisation = everySection('acme', ['other']);
const OWN_PROVIDER = 'acme-oidc';

/** A place in a record, and different values for it; undefined is an absent value. */
interface Place {
  readonly section: Section;
  readonly base: JsonObject;
  readonly steps: readonly (string | number)[];
  readonly values: readonly unknown[];
}

type Steps = Pick<Place, 'steps' | 'values'>;

const scalars: Partial<Record<ScalarType, readonly unknown[]>> = {
  [ScalarType.STRING]: ['a', ' a '],
  [ScalarType.BOOL]: [true, false],
  [ScalarType.BYTES]: ['AA==', 'AQ=='],
};
const messages: Readonly<Record<string, readonly unknown[]>> = {
  'google.protobuf.Duration': ['0s', '5s', '5.0s'],
  'google.protobuf.Timestamp': ['2099-01-01T00:00:00Z', '2098-01-01T00:00:00Z', '2099-01-01T00:00:00.000Z'],
};

function valuesOf({ scalar, enum: names, message }: DescField): readonly unknown[] {
  if (message !== undefined) return messages[message.typeName] ?? [];
  if (names !== undefined) return [...names.values.slice(0, 3).map(({ name }) => name), 99];
  return (scalar === undefined ? undefined : scalars[scalar]) ?? [5, 7];
}

/** Lists the places of a message, each with values of the field's type. */
function* placesIn(schema: DescMessage, before: Steps['steps']): Generator<Steps> {
  for (const field of schema.fields) {
    const steps = [...before, field.jsonName];
    const isMessage = field.message !== undefined && messages[field.message.typeName] === undefined;
    if (field.fieldKind === 'list') {
      const [one, other] = valuesOf(field);
      if (!isMessage) yield { steps, values: [undefined, [one], [other], [one, other]] };
      else if (field.message !== undefined) yield* placesIn(field.message, [...steps, 0]);
    } else if (isMessage && field.message !== undefined) {
      yield { steps, values: [undefined, {}] };
      yield* placesIn(field.message, steps);
    } else yield { steps, values: [undefined, ...valuesOf(field)] };
  }
}

function keptValues(field: AdditionalField): readonly unknown[] {
  if (field.type === 'boolean' || field.type === 'factor') return [true, false];
  return field.type === 'state' ? field.states : ['a', 'b'];
}

/** Lists the places of a section that its definition lacks, or that have special values. */
function ownPlaces(section: Section): Steps[] {
  const { name, filled = [] } = section;
  const providers = [OWN_PROVIDER, 'missing'].flatMap((idpId) =>
    ['SYSTEM', 'ORG'].map((owner) => ({ idpId, ownerType: `IDP_OWNER_TYPE_${owner}` })),
  );
  return [
    ...keptFields(section).map((field) => ({
      steps: field.path.split('.'),
      values: [undefined, ...keptValues(field)],
    })),
    ...(name === 'loginPolicy' ? [{ steps: ['idps'], values: [undefined, ...providers.map((one) => [one])] }] : []),
    ...filled.flatMap(({ path, value }) =>
      typeof value === 'function'
        ? [{ steps: path.split('.'), values: [undefined, 'First Last', 'other'] }]
        : [{ steps: path.split('.'), values: [undefined, value] }],
    ),
  ];
}

const places = all.flatMap((section): Place[] => {
  const clear = section.credentials?.map((credential) => credential.clear) ?? [];
  const found = [...placesIn(recordSchema(section), []), ...ownPlaces(section)];
  // An import verifies a clear password, which a comparison cannot.
  const compared = found.filter(({ steps }) => !clear.includes(steps.join('.')));
  return recordsOf(organisation, section).flatMap((base) => compared.map((place) => ({ section, base, ...place })));
});

/** Reads a record as an import stores it; undefined for one that every import rejects. */
function read(section: Section, json: unknown, orgId: string): OrganisationRecord | undefined {
  // Reading a record changes it.
  const copy: unknown = JSON.parse(JSON.stringify(json));
  try {
    const isOrganisation = section === organisationSection && isJsonObject(copy);
    const given = isOrganisation ? toRecord(section, copy, orgId) : readRecord(section, copy, orgId, true);
    const { record, issue } = normaliseRecord(given);
    return issue === undefined ? record : undefined;
  } catch (error) {
    if (error instanceof InvalidRecordError) return undefined;
    throw error;
  }
}

const oidcIdps = sectionNamed('oidcIdps');

/** Returns the record of the identity provider of another record's organisation, unless that record is one itself. */
function ownProviders({ section, orgId }: OrganisationRecord): OrganisationRecord[] {
  if (section.collection === oidcIdps.collection) return [];
  return recordsOf(organisation, oidcIdps).flatMap((json) => read(oidcIdps, json, orgId) ?? []);
}

function findProvider(id: string, orgId: string): Provider | undefined {
  return id === OWN_PROVIDER ? { orgId, name: OWN_PROVIDER, type: 'IDP_TYPE_OIDC' } : undefined;
}

/** Returns a stored record in the form of an export. */
function exported({ section, orgId, body, credentials, otpEmail }: OrganisationRecord): OrganisationRecord {
  const json = parseObject(body);
  for (const { path, field } of section.credentials ?? [])
    if (credentials[field] !== undefined) putAt(json, path, credentials[field]);
  if (otpEmail === true) json.otpEmail = true;
  const filled = fillForExport(section, json, orgId, (id) => findProvider(id, orgId));
  const record = read(section, filled ?? json, orgId);
  if (record === undefined) throw new Error(`an export has the invalid record ${JSON.stringify(json)}`);
  return record;
}

/** Returns a record with all optional values filled in: equal records have equal results. */
function filledIn(record: OrganisationRecord): unknown {
  const { section, body, credentials, otpEmail } = exported(record);
  const json = parseObject(body);
  fillIn(section.filled ?? [], json);
  const isTexts = section.name === 'loginTexts';
  const isEmpty = (value: unknown) => isTexts && isJsonObject(value) && Object.keys(value).length === 0;
  return [
    Object.fromEntries(Object.entries(json).filter(([, value]) => !isEmpty(value))),
    credentials,
    otpEmail === true,
  ];
}

/** A record of a file, and the stored one. */
interface Pair {
  readonly title: string;
  readonly given: OrganisationRecord;
  readonly stored: OrganisationRecord;
}

/** Reads two records as a pair; undefined if one is invalid, or if they are not the same record. */
function pairOf(title: string, section: Section, given: unknown, stored: unknown, orgId: string): Pair[] {
  const [one, other] = [read(section, given, orgId), read(section, stored, orgId)];
  if (one === undefined || other === undefined) return [];
  const [first, second] = [planRecord(one, false).key, planRecord(other, false).key];
  return documentPath(first) === documentPath(second) ? [{ title, given: one, stored: other }] : [];
}

/** Whether an import reports a stored record as unchanged. */
function callsUnchanged(given: OrganisationRecord, stored: OrganisationRecord, onConflict: RecordConflict): boolean {
  const plan = planRecord(given, false);
  const providers = ownProviders(given).map((provider) => {
    const { key } = planRecord(provider, false);
    return [documentPath(key), { id: key.id, ...storedFields(provider) }] as const;
  });
  return isEqual(plan, { id: plan.key.id, ...storedFields(stored) }, new Map(providers), onConflict);
}

const conflicts = ['report', 'overwrite'] as const;
const { signal } = new AbortController();
const everything = { withPasswords: true, withOtp: true, withKeys: true };

/** Lists the pairs on which import, comparison and proof disagree; each has its own organisation. */
async function disagreements(pairs: readonly Pair[]): Promise<string[]> {
  const found: string[] = [];
  const areSame = pairs.map(({ given, stored }) => isDeepStrictEqual(filledIn(given), filledIn(stored)));
  for (const onConflict of conflicts) {
    using database = new RunDatabase(everything);
    for (const { given } of pairs) database.first.add(given);
    for (const { given, stored } of pairs) {
      database.second.add(exported(stored));
      for (const provider of ownProviders(given)) database.second.add(provider);
    }
    const { organisations } = await database.compare(signal, 0, (difference, first) =>
      explain(difference, { onConflict }, undefined, first),
    );
    for (const [index, { title, given, stored }] of pairs.entries()) {
      const isUnchanged = callsUnchanged(given, stored, onConflict);
      const { equal = 0, differentAsExpected = 0 } = organisations.get(given.orgId) ?? {};
      const isSame = areSame[index] === true;
      const verdicts = { isSame, isEqual: equal === 1, isProved: equal + differentAsExpected === 1, isUnchanged };
      const agree = verdicts.isSame === verdicts.isEqual && verdicts.isProved === verdicts.isUnchanged;
      if (!agree || (isSame && !isUnchanged)) found.push(`${title}: ${onConflict}: ${JSON.stringify(verdicts)}`);
    }
  }
  return found;
}

const withAt = ({ base, steps }: Place, value: unknown) => withValue(structuredClone(base), steps, value);

it('import, comparison and proof agree on any single field of any section', async () => {
  let number = 0;
  const pairs = places.flatMap((place) =>
    place.values.flatMap((given) =>
      place.values.flatMap((stored) => {
        const title = `${place.section.name}.${place.steps.join('.')}: ${JSON.stringify(given)} and ${JSON.stringify(stored)}`;
        return pairOf(title, place.section, withAt(place, given), withAt(place, stored), `org-${number++}`);
      }),
    ),
  );
  expect(new Set(pairs.map(({ given }) => given.section.name)).size).toBe(all.length);
  expect(await disagreements(pairs)).toEqual([]);
});

it('import, comparison and proof agree on any combination of fields', async () => {
  const anyChange = fc
    .constantFrom(...places)
    .chain((place) => fc.record({ place: fc.constant(place), value: fc.constantFrom(...place.values) }));
  const anyRecords = fc.array(anyChange, { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(anyRecords, anyRecords, async (given, stored) => {
      const [{ place }] = [given[0] ?? stored[0] ?? { place: places[0] }];
      if (place === undefined) return;
      const { section, base } = place;
      const change = (changes: typeof given) =>
        changes
          .filter((one) => one.place.section === section)
          .reduce<unknown>((json, one) => withValue(json, one.place.steps, one.value), structuredClone(base));
      expect(await disagreements(pairOf(section.name, section, change(given), change(stored), 'org'))).toEqual([]);
    }),
  );
});
