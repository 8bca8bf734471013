import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type JsonObject, putAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection, recordSections, sections } from '../../../shared/organisation/allSections.ts';
import { isList, type Section } from '../../../shared/organisation/section.ts';
import { recordsOf } from '../../support/fixtures/everySection.ts';
import type { Organisation } from '../../support/fixtures/organisations.ts';
import {
  attacker,
  prepareTwoTenants,
  sectionsWith,
  victim,
  victimDocuments,
} from '../../support/instances/twoTenants.ts';
import { setUpOnce } from '../../support/stores/stores.ts';

const all = recordSections;
/** A record that "skip" skips, "report" reports: neither writes it. */
const everyOnConflict = ['report', 'overwrite'] as const;

/** An import that must not reach a record of the victim. */
interface Attack {
  readonly title: string;
  readonly section: Section;
  readonly json: JsonObject;
  /** The possible outcomes of the record; undefined if it may become a record of the attacker's own organisation. */
  readonly outcomes: readonly string[] | undefined;
  /** The organisation of the import; by default the attacker's. */
  readonly orgId?: string;
}

/** A path into a record, other than `$orgId` and a constant. */
const isOwnPath = (path: string) => path !== '$orgId' && !path.startsWith('=');

/** Returns a record with the values of another record at some paths. */
function withValuesOf(given: JsonObject, other: JsonObject, paths: readonly string[]): JsonObject {
  const json = structuredClone(given);
  for (const path of paths.filter(isOwnPath)) {
    const value = valueAt(other, path);
    if (value !== undefined) putAt(json, path, value);
  }
  return json;
}

/** Returns a record with a new key, if the key has parts other than the given ones. */
function withNewKey(given: JsonObject, { key }: Section, kept: readonly string[]): JsonObject {
  const json = structuredClone(given);
  for (const path of key.filter((part) => isOwnPath(part) && !kept.includes(part)))
    putAt(json, path, `${valueAt(json, path)}-new`);
  return json;
}

/** Returns a record with new unique names, except those that are part of its key or of references. */
function withNewNames(given: JsonObject, { key, unique = [], references = [] }: Section): JsonObject {
  const json = structuredClone(given);
  const kept = new Set([...key, ...references.flatMap((reference) => reference.key)]);
  for (const path of new Set(unique.flatMap(({ parts }) => parts)).difference(kept))
    if (isOwnPath(path)) putAt(json, path, `${valueAt(json, path)}-new`);
  return json;
}

const REJECTED = ['failed', 'notCarried'];

/** Imports with the key of a victim's record: in its section with other and with equal content, and in another section. */
function keyAttacks(section: Section): Attack[] {
  const own = (org: Organisation) => withNewNames(recordsOf(org, section)[0] ?? {}, section);
  // Organisations share the space of all other keys.
  const outcomes = section.key.includes('$orgId') ? undefined : REJECTED;
  const ofSection = recordsOf(victim, section).flatMap((target, index): Attack[] => [
    { title: `the key of record ${index}`, section, json: withValuesOf(own(attacker), target, section.key), outcomes },
    { title: `a copy of record ${index}`, section, json: target, outcomes },
  ]);
  const others = sections.filter((one) => one !== section && one.collection === section.collection);
  const ofOthers = others.filter(({ key }) => outcomes !== undefined && key.join() === section.key.join());
  const orgIds = [attacker.orgId, victim.orgId];
  return [
    ...ofSection,
    ...ofOthers.flatMap((other) =>
      recordsOf(victim, other).flatMap((target, index) =>
        orgIds.map((orgId): Attack => {
          const json = withValuesOf(own(orgId === victim.orgId ? victim : attacker), target, section.key);
          return { title: `the key of record ${index} of ${other.name}, by ${orgId}`, section, json, outcomes, orgId };
        }),
      ),
    ),
  ];
}

/** Imports with a unique name of a victim's record, under the attacker's own key and under a new one. */
function nameAttacks(section: Section): Attack[] {
  return (section.unique ?? []).flatMap(({ type, parts, perOrganisation, onlyIf = [] }) =>
    recordsOf(victim, section).flatMap((target, index): Attack[] => {
      const [usual = {}] = recordsOf(attacker, section);
      const isClaimed = [onlyIf].flat().every((path) => valueAt(target, path) === true);
      const isTaken = isClaimed && perOrganisation !== true && !parts.includes('$orgId');
      const json = withValuesOf(usual, target, parts);
      const title = `the ${type} of record ${index}`;
      const outcomes = isTaken ? REJECTED : undefined;
      const created = withNewKey(json, section, parts);
      const own = { title, section, json, outcomes };
      if (isDeepStrictEqual(created, json)) return [own];
      return [own, { ...own, title: `${title}, new`, json: created, outcomes: isTaken ? REJECTED : undefined }];
    }),
  );
}

function requestOf({ section, json, orgId = attacker.orgId }: Attack, on_conflict: string) {
  const field = isList(section) ? [json] : json;
  const fields = section === organisationSection ? json : { [section.name]: field };
  return { data_orgs: { orgs: [{ orgId, ...fields }] }, with_keys: true, on_conflict };
}

const outcomes = ['created', 'unchanged', 'failed', 'notCarried', 'overwritten'];

const open = setUpOnce(prepareTwoTenants);

describe.each(all.map((section) => [section.name, section] as const))('an import of %s', (_name, section) => {
  it.each(everyOnConflict)(
    'takes over and changes no record of another organisation under "%s"',
    async (onConflict) => {
      expect(recordsOf(victim, section), 'the fixture has no record of the section').not.toEqual([]);
      const attacks = [...keyAttacks(section), ...nameAttacks(section)];
      const { store, instance } = await open()();
      const before = await victimDocuments(store);
      const exported = await instance.export({ org_ids: [victim.orgId] });
      for (const attack of attacks) {
        const report = await instance.import(requestOf(attack, onConflict));
        expect(await victimDocuments(store), attack.title).toEqual(before);
        if (attack.outcomes !== undefined)
          expect(attack.outcomes, attack.title).toContain(
            outcomes.find((outcome) => sectionsWith(report, outcome).includes(section.name)),
          );
      }
      expect((await instance.export({ org_ids: [victim.orgId] })).manifest.digest).toBe(exported.manifest.digest);
    },
  );
});
