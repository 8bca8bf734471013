import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inspect } from '../../functions/import/inspection.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { readDatabase } from '../support/database.ts';
import { organisation, person } from '../support/organisation.ts';
import { describeStores, openTestStore, sqlite } from '../support/stores.ts';
import { withTemporaryStore } from '../support/temporaryStore.ts';
import { type Exported, testInstance } from '../support/testInstance.ts';
import { isFull } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { survived } from './support/survived.ts';

const never = new AbortController().signal;
/** Over HTTP every so manieth position is tried; without it all of them are. */
const STEP_OVER_HTTP = isFull ? 7 : 53;

const content = [
  organisation('O', {
    humanUsers: [person('alice'), person('bob', { hashedPassword: { value: '$2a$10$x' } })],
    userMetadata: [{ id: 'alice', key: 'team', value: 'eA==' }],
    projects: [{ projectId: 'P', project: { name: 'Portal' } }],
  }),
  organisation('Q', {
    humanUsers: [person('carol', { userName: 'carol.ångström' })],
    domains: [{ domainName: 'q.example', isVerified: true }],
  }),
];

let file: Exported;
let other: Exported;
beforeAll(async () => {
  file = await exported(content);
  other = await exported([organisation('R', { humanUsers: [person('dave')] })]);
});

function exported(orgs: readonly object[]): Promise<Exported> {
  return withTemporaryStore(async (store) => {
    const instance = await testInstance(store, 'source');
    await instance.import({ data_orgs: { orgs } });
    return instance.export();
  });
}

/** The bytes up to the end of the document; what follows it is a line break, which says nothing. */
const whole = () => Buffer.from(file.bytes.trimEnd());

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** What the answer to a document would be before anything is written. */
async function inspected(bytes: Uint8Array): Promise<string> {
  try {
    const { proved } = await inspect({ open: () => once(bytes) }, never);
    return proved ? 'proved' : 'not proved';
  } catch (error) {
    if (error instanceof IdentityError) return error.code;
    throw error;
  }
}

describe(faultTable['file is cut'].fault, () => {
  it('is refused, and the whole file is not', async () => {
    const bytes = whole();
    const answers = new Set<string>();
    for (let length = 0; length < bytes.length; length++) answers.add(await inspected(bytes.subarray(0, length)));
    expect([...answers]).toEqual(['INVALID_ARGUMENT']);
    expect(await inspected(bytes)).toBe('proved');
    expect(await inspected(Buffer.from(file.bytes))).toBe('proved');
  });
});

type Organisation = Exported['orgs'][number];
const people = z.array(z.looseObject({}));

/** The file with something else in place of some of its organisations' fields. */
function edited(change: (orgs: Organisation[]) => readonly object[]): string {
  const { orgs, manifest } = z
    .object({ orgs: z.array(z.looseObject({ orgId: z.string() })), manifest: z.unknown() })
    .parse(JSON.parse(file.bytes));
  return JSON.stringify({ orgs: change(orgs), manifest });
}

const inOrganisation = (orgId: string, change: (org: Organisation) => object) => () =>
  edited((orgs) => orgs.map((org) => (org.orgId === orgId ? { ...org, ...change(org) } : org)));
const peopleOf = (org: Organisation | undefined) => people.parse(org?.humanUsers);

const damages: readonly [what: string, damaged: () => string, field: string][] = [
  [
    'a person is left out',
    inOrganisation('O', (org) => ({ humanUsers: peopleOf(org).slice(1) })),
    'manifest.counts.humanUsers',
  ],
  ['all metadata is left out', inOrganisation('O', () => ({ userMetadata: [] })), 'manifest.counts.userMetadata'],
  ['a section is left out', inOrganisation('O', () => ({ projects: undefined })), 'manifest.counts.projects'],
  ['an organisation is left out', () => edited((orgs) => orgs.slice(1)), 'manifest.counts.orgs'],
  ['every organisation is left out', () => edited(() => []), 'manifest.counts.orgs'],
  [
    'a person is there twice',
    inOrganisation('O', (org) => ({ humanUsers: [...peopleOf(org), ...peopleOf(org).slice(1)] })),
    'manifest.counts.humanUsers',
  ],
  [
    'a person is put in the place of another',
    inOrganisation('O', (org) => ({ humanUsers: [peopleOf(org)[0], peopleOf(org)[0]] })),
    'manifest.digest',
  ],
  [
    'people of two organisations have changed places',
    () => edited((orgs) => orgs.map((org, index) => ({ ...org, humanUsers: orgs[1 - index]?.humanUsers }))),
    'manifest.digest',
  ],
  ['a name is edited', inOrganisation('Q', () => ({ org: { name: 'Another' } })), 'manifest.digest'],
  [
    'an e-mail address is edited',
    () => file.bytes.replace('first.last@example.com', 'first.lost@example.com'),
    'manifest.digest',
  ],
  ['a password hash is edited', () => file.bytes.replace('$2a$10$x', '$2a$10$y'), 'manifest.digest'],
  [
    'a password hash is taken out',
    () => file.bytes.replace('"hashedPassword":{"value":"$2a$10$x"}', '"hashedPassword":{}'),
    'manifest.digest',
  ],
  ['a state is edited', () => file.bytes.replace('USER_STATE_ACTIVE', 'USER_STATE_LOCKED'), 'manifest.digest'],
  [
    'an organisation of another file is added',
    () => edited((orgs) => [...orgs, ...other.orgs]),
    'manifest.counts.orgs',
  ],
  [
    'it has the manifest of another file',
    () => JSON.stringify({ orgs: file.orgs, manifest: other.manifest }),
    'manifest.counts.orgs',
  ],
  ['a count is edited', () => file.bytes.replace('"humanUsers":3', '"humanUsers":2'), 'manifest.counts.humanUsers'],
  [
    'the digest is edited',
    () => file.bytes.replace(/sha256:./, (start) => (start === 'sha256:0' ? 'sha256:1' : 'sha256:0')),
    'manifest.digest',
  ],
  ['it stands twice, one after the other', () => `${file.bytes}${file.bytes}`, ''],
  ['another file stands behind it', () => `${file.bytes}${other.bytes}`, ''],
];

const refusal = z.looseObject({
  code: z.literal(3),
  details: z.array(z.looseObject({ fieldViolations: z.array(z.looseObject({ field: z.string() })).optional() })),
});

describeStores('a damaged export file', (kind) => {
  async function target() {
    const store = await openTestStore(kind);
    const instance = await testInstance(store, 'target');
    return { instance, contents: async () => JSON.stringify([...(await readDatabase(store))]) };
  }

  it(`${faultTable['file is cut'].fault}: ${faultTable['file is cut'].outcome}`, async (context) => {
    const { instance, contents } = await target();
    const before = await contents();
    const bytes = whole();
    let times = 0;
    for (let length = 1; length < bytes.length; length += STEP_OVER_HTTP, times++) {
      // As text: an object cut off would make the request itself no JSON, which is found anyway.
      const cut = bytes.subarray(0, length).toString();
      const { body } = await instance.refusedImport({ data_orgsv1: cut });
      refusal.parse(body);
    }
    const { status } = await instance.refusedImport(`{"data_orgsv1":${bytes.subarray(0, bytes.length / 2)}`);
    expect(status).toBe(400);
    expect(await contents()).toBe(before);
    expect((await instance.import({ data_orgsv1: file.bytes })).summary).toMatchObject({ proved: true, failed: {} });
    survived(context, 'file is cut', kind.name, kind.name === sqlite.name ? bytes.length + times : times);
  });

  it(`${faultTable['file is changed'].fault}: ${faultTable['file is changed'].outcome}`, async (context) => {
    const { instance, contents } = await target();
    const before = await contents();
    for (const [what, damaged, field] of damages) {
      const text = damaged();
      expect(text, what).not.toBe(file.bytes);
      const { body } = await instance.refusedImport({ data_orgsv1: text });
      const [detail] = refusal.parse(body).details;
      const fields = detail?.fieldViolations?.map((violation) => violation.field) ?? [];
      if (field !== '') expect(fields, what).toContain(field);
    }
    expect(await contents()).toBe(before);
    survived(context, 'file is changed', kind.name, damages.length);
  });

  it('is taken where only its order is another, since order says nothing', async () => {
    const { instance } = await target();
    const reordered = edited((orgs) => orgs.toReversed().map((org) => ({ ...org, ...reversedPeople(org) })));
    expect((await instance.import({ data_orgsv1: reordered })).summary).toMatchObject({ proved: true, failed: {} });
  });

  it('is taken without its manifest, as a file of ZITADEL is, and said to be unproved', async () => {
    const { instance } = await target();
    const { summary } = await instance.import({ data_orgsv1: { orgs: file.orgs } });
    expect(summary).toMatchObject({ proved: false, failed: {} });
    const { orgs } = migration(1);
    expect((await instance.import({ data_orgsv1: { orgs } })).summary.proved).toBe(false);
  });
});

function reversedPeople(org: Organisation): object {
  return org.humanUsers === undefined ? {} : { humanUsers: peopleOf(org).toReversed() };
}
