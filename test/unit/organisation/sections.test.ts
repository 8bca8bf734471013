import type { DescMessage } from '@bufbuild/protobuf';
import { DataOrgSchema, ImportDataSuccessOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisationSection, recordSections, sections } from '../../../shared/organisation/allSections.ts';
import { formatIssue } from '../../../shared/organisation/relations.ts';
import type { Section } from '../../../shared/organisation/sections/section.ts';
import { collections } from '../../../shared/store/store.ts';
import { zitadelText } from '../../support/fixtures/organisations.ts';

const recordedErrors = z.object({ errors: z.array(z.object({ type: z.string(), message: z.string() })) });
const fieldOf = (name: string) => DataOrgSchema.fields.find(({ jsonName }) => jsonName === name);
const rows = sections.map((section) => [section.name, section] as const);
const all = recordSections;

/** The message type of a section's records. */
function messageOf({ name }: Section): DescMessage {
  const field = fieldOf(name);
  if (field?.fieldKind === 'message') return field.message;
  if (field?.fieldKind === 'list' && field.listKind === 'message') return field.message;
  throw new Error(`${name} is no message in ZITADEL's document`);
}

/** Whether a path of the table leads to a field of the message, through lists if the path contains them. */
function isField(message: DescMessage, path: string): boolean {
  if (path === '$orgId' || path.startsWith('=')) return true;
  const [first = '', ...rest] = path.split('.');
  const [, name = '', list, condition] = /^(\w+)(\[(?:(\w+)=\w+)?\])?$/.exec(first) ?? [];
  const field = message.fields.find(({ jsonName }) => jsonName === name);
  if (field === undefined || (list !== undefined && field.fieldKind !== 'list')) return false;
  if (condition !== undefined && !(field.message && isField(field.message, condition))) return false;
  if (rest.length === 0) return true;
  const inner = field.fieldKind === 'message' || list !== undefined ? field.message : undefined;
  return inner !== undefined && isField(inner, rest.join('.'));
}

function entryPaths({ success }: Section): string[] {
  if (success === undefined) return [];
  return Array.isArray(success.entry) ? [...success.entry] : Object.values(success.entry);
}

describe('the section table', () => {
  it("has a row for each field of ZITADEL's document apart from the organisation itself, in its order", () => {
    const fields = DataOrgSchema.fields.map(({ jsonName }) => jsonName);
    const own = ['orgId', 'org', 'orgState'];
    expect(sections.map(({ name }) => name)).toEqual(fields.filter((name) => !own.includes(name)));
    expect(fields).toHaveLength(39);
  });

  it('names only collections of the store', () => {
    for (const { collection } of all) expect(collections).toContain(collection);
  });

  it('has every text of an organisation as one record per language', () => {
    const named = sections.filter(({ name }) => /(Messages|Texts)$/.test(name));
    expect(named).toHaveLength(10);
    for (const { name, collection, key } of named) {
      expect({ collection, key }).toEqual({ collection: 'texts', key: ['$orgId', `=${name}`, 'language'] });
    }
    expect(sections.filter(({ collection }) => collection === 'texts')).toEqual(named);
  });

  it('has every policy of an organisation as one object, and everything else as a list', () => {
    const single = sections.filter(({ collection }) => collection === 'settings').map(({ name }) => name);
    expect(single).toEqual(sections.filter(({ name }) => fieldOf(name)?.fieldKind !== 'list').map(({ name }) => name));
    expect(single).toHaveLength(6);
  });

  it('omits machine and application keys, and nothing else, unless they are requested', () => {
    expect(sections.filter(({ keys }) => keys === true).map(({ name }) => name)).toEqual(['appKeys', 'machineKeys']);
  });

  it('keeps every credential in a separate field', () => {
    const credentials = sections.flatMap(({ name, credentials = [] }) =>
      credentials.map(({ path, flag }) => [name, path, flag]),
    );
    expect(credentials).toEqual([
      ['humanUsers', 'user.hashedPassword.value', 'withPasswords'],
      ['humanUsers', 'user.otpCode', 'withOtp'],
      ['oidcIdps', 'idp.clientSecret', 'withPasswords'],
    ]);
  });
});

it('an existing record has the error that ZITADEL reported for it, whatever its section', () => {
  const { errors } = recordedErrors.parse(JSON.parse(zitadelText('reimport-same-instance-response')));
  // ZITADEL gave service users new ids, so their names collided; it imported duplicate members of projects; a flow with the
  // same actions is unchanged here.
  const others = ['machine_user', 'human_user_otp', 'project_member', 'trigger_action'];
  const recorded = errors.filter(({ type }) => !others.includes(type));
  const messages = new Map(all.map(({ error }) => [error.type, formatIssue(error.exists)]));
  expect(new Set(recorded.map(({ type }) => type)).size).toBeGreaterThan(20);
  for (const { type, message } of recorded) expect(messages.get(type), type).toBe(message.replace(/ Parent=.*$/, ''));
});

describe.each(rows)('the section %s', (_name, section) => {
  const message = messageOf(section);

  it('has only paths that are fields of its records', () => {
    const { key, unique = [], references = [], reserved = [], credentials = [], error } = section;
    const paths = [
      ...key,
      ...reserved.map(({ suffixOf }) => suffixOf),
      ...unique.flatMap(({ parts, onlyIf = [] }) => [...parts, ...[onlyIf].flat()]),
      ...references.flatMap((reference) => reference.key),
      ...credentials.map(({ path }) => path),
      ...error.id,
      ...entryPaths(section),
    ];
    expect(paths.filter((path) => !isField(message, path))).toEqual([]);
  });

  it('names the object inside its records if they have one', () => {
    const [, ...inner] = message.fields.filter(({ name }) => !['state', 'expiration_date'].includes(name));
    const wrapped = message.typeName.startsWith('zitadel.v1.v1.Data') && inner.length === 1;
    expect(section.inner).toBe(wrapped ? inner[0]?.jsonName : undefined);
  });

  it('is written after all sections that it refers to, by keys of the same parts', () => {
    for (const { collection, key } of section.references ?? []) {
      const targets = all.filter((row) => row.collection === collection);
      expect(targets).not.toEqual([]);
      for (const target of targets) {
        expect(target.key).toHaveLength(key.length);
        if (target !== organisationSection) expect(target.phase).toBeLessThan(section.phase);
      }
    }
  });

  it('reserves only names that some section claims', () => {
    const claimed = all.flatMap(({ unique = [] }) => unique.map(({ type }) => type));
    for (const { type } of section.reserved ?? []) expect(claimed).toContain(type);
  });

  it("lists its written records in a field of ZITADEL's response, with the fields of that message", () => {
    if (section.success === undefined) {
      expect(['settings', 'texts']).toContain(section.collection);
      return;
    }
    const { field: name, entry } = section.success;
    const field = ImportDataSuccessOrgSchema.fields.find(({ jsonName }) => jsonName === name);
    if (field?.fieldKind !== 'list') throw new Error(`${name} is no list of the response`);
    const names = field.listKind === 'message' ? field.message.fields.map(({ jsonName }) => jsonName) : undefined;
    expect(Array.isArray(entry) ? undefined : Object.keys(entry).sort()).toEqual(names?.sort());
  });

  it("reports in ZITADEL's form: a type in snake_case, an id, and an error's key", () => {
    const { unique = [], references = [], reserved = [], error } = section;
    const taken = unique.map((name) => name.taken).filter((issue) => issue !== 'adjusted');
    const faults = [
      error.exists,
      ...taken,
      ...references.flatMap(({ missing, ifForeign }) => [missing, ifForeign ?? []].flat()),
      ...reserved.map((name) => name.reserved),
    ].filter((fault) => fault !== 'notCarried');
    expect(error.type).toMatch(/^[a-z]+(_[a-z]+)*$/);
    for (const { id, key } of faults) {
      expect(id).toMatch(/^[A-Za-z0-9]+-[A-Za-z0-9]+$/);
      expect(key).toMatch(/^Errors(\.[A-Za-z]+)+$/);
    }
    for (const { id } of taken) expect(['V3-DKcYh', error.exists.id]).toContain(id);
  });
});
