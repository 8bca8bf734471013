import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject, putAt, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import type { Reference } from '../../../shared/organisation/relations.ts';
import { isList, type Section } from '../../../shared/organisation/section.ts';
import { recordSections, sections } from '../../../shared/organisation/sections.ts';
import { recordsOf } from '../../support/fixtures/everySection.ts';
import {
  attacker,
  prepareTwoTenants,
  sectionsWith,
  victim,
  victimDocuments,
} from '../../support/instances/twoTenants.ts';
import { setUpOnce } from '../../support/stores/stores.ts';

const open = setUpOnce(prepareTwoTenants);

/**
 * The victim's records to which the attacker's records may refer. Users of any organisation may be members and get grants, a
 * granted organisation may use its granted project, and a person may have the id of any identity provider: the link itself
 * is a separate record, which is not imported then.
 */
const permitted = [
  'userGrants to users victim-ada',
  'userGrants to users victim-ben',
  'userGrants to users victim-robot',
  'userGrants to projects victim-portal',
  'orgMembers to users victim-ada',
  'orgMembers to users victim-ben',
  'orgMembers to users victim-robot',
  'projectMembers to users victim-ada',
  'projectMembers to users victim-ben',
  'projectMembers to users victim-robot',
  'projectGrantMembers to users victim-ada',
  'projectGrantMembers to users victim-ben',
  'projectGrantMembers to users victim-robot',
];

const LIST_PATH = /^(.+)\[(?:(\w+)=(\w+))?\](?:\.(\w+))?$/;

/** Sets the value at a reference's path; a list gets one element with it. */
function refer(json: JsonObject, path: string, value: string): void {
  const [, list, condition, expected, field] = LIST_PATH.exec(path) ?? [];
  const [first = {}] = [valueAt(json, list ?? path)].flat();
  const conditions = condition === undefined ? {} : { [condition]: expected };
  const element = field === undefined ? value : { ...(isJsonObject(first) && first), ...conditions, [field]: value };
  putAt(json, list ?? path, list === undefined ? value : [element]);
}

/** Gives a record a new key and new names, except for references and the numbers of flows. */
function rename(json: JsonObject, { key, unique = [], references = [] }: Section, suffix: string): void {
  const referring = new Set(references.flatMap((reference) => reference.key));
  const paths = new Set([...key.slice(-1), ...unique.flatMap(({ parts }) => parts)]);
  for (const path of paths.difference(referring)) {
    const value = valueAt(json, path);
    if (typeof value === 'string' && !/^\d+$/.test(value)) putAt(json, path, `${value}-${suffix}`);
  }
}

/** Lists the keys of the victim's records to which a reference may lead, as their parts. */
function targetsOf({ collection }: Reference): string[][] {
  const targets = recordSections.filter((section) => section.collection === collection);
  return targets.flatMap((section) =>
    recordsOf(victim, section).map((json) => section.key.map((path) => textAt(json, path, victim.orgId))),
  );
}

const referring = sections.flatMap((section) =>
  (section.references ?? []).map((reference) => ({ section, reference })),
);

it('a record refers to another organisation only if that is permitted, and never changes it', async () => {
  const { store, instance } = await open()();
  const before = await victimDocuments(store);
  const accepted: string[] = [];
  for (const [number, { section, reference }] of referring.entries()) {
    const targets = targetsOf(reference);
    expect(targets, `the fixture has nothing to which ${section.name} could refer`).not.toEqual([]);
    for (const [index, target] of targets.entries()) {
      const [json = {}] = recordsOf(attacker, section);
      rename(json, section, `${number}-${index}`);
      for (const [part, path] of reference.key.entries()) refer(json, path, target[part] ?? '');
      const orgs = [{ orgId: attacker.orgId, [section.name]: isList(section) ? [json] : json }];
      const report = await instance.import({ data_orgs: { orgs }, with_keys: true, on_conflict: 'overwrite' });
      const written = [...sectionsWith(report, 'created'), ...sectionsWith(report, 'overwritten')];
      accepted.push(...written.map((name) => `${name} to ${reference.collection} ${target.join(' ')}`));
      expect(await victimDocuments(store), `${section.name} to ${target.join(' ')}`).toEqual(before);
    }
  }
  expect(accepted.toSorted()).toEqual(permitted.toSorted());
});
