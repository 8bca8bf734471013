import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { once } from '../../shared/async.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { inspect } from '../../shared/exportFile/inspection.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { type Exported, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { readDatabase } from '../support/stores/database.ts';
import { describeStores, openTestStore, sqlite, withTemporaryStore } from '../support/stores/stores.ts';
import { damagesOf, reordered } from './support/damages.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { survived } from './support/survived.ts';

const never = new AbortController().signal;
/** Every n-th position is tried over HTTP, and every position without HTTP. */
const STEP_OVER_HTTP = repetitions({ few: 53, many: 7 });

const content = [
  organisation('O', {
    humanUsers: [person('alice'), person('bob', { hashedPassword: { value: '$2a$10$x' }, otpCode: 'JBSWY3DP' })],
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

/** The bytes up to the end of the document; only an insignificant line break follows. */
const whole = () => Buffer.from(file.bytes.trimEnd());

/** Returns the response to a document before anything is written. */
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
  it('is rejected, and the whole file is not', async () => {
    const bytes = whole();
    const answers = new Set<string>();
    for (let length = 0; length < bytes.length; length++) answers.add(await inspected(bytes.subarray(0, length)));
    expect([...answers]).toEqual(['INVALID_ARGUMENT']);
    expect(await inspected(bytes)).toBe('proved');
    expect(await inspected(Buffer.from(file.bytes))).toBe('proved');
  });
});

const refusal = z.looseObject({
  code: z.literal(3),
  details: z.array(
    z.looseObject({ fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })).default([]) }),
  ),
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
      // As text: a truncated object would make the request itself invalid JSON, which is detected anyway.
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
    const damages = Object.entries(damagesOf(file, other));
    for (const [what, [damaged, field]] of damages) {
      const text = damaged();
      expect(text, what).not.toBe(file.bytes);
      const { body } = await instance.refusedImport({ data_orgsv1: text });
      const violations = refusal.parse(body).details.flatMap(({ fieldViolations }) => fieldViolations);
      const named = violations.find((violation) => violation.field === field);
      if (field.startsWith('manifest.counts'))
        expect(named?.description, what).toMatch(/count mismatch: \d+ in the manifest, \d+ in the file/);
      else if (field !== '') expect(named, what).toBeDefined();
    }
    expect(await contents()).toBe(before);
    survived(context, 'file is changed', kind.name, damages.length);
  });

  it('is accepted if only its order differs, because the order has no meaning', async () => {
    const { instance } = await target();
    expect((await instance.import({ data_orgsv1: reordered(file) })).summary).toMatchObject({
      proved: true,
      failed: {},
    });
  });

  it('is accepted without its manifest, like a file of ZITADEL, and reported as unproved', async () => {
    const { instance } = await target();
    const { summary } = await instance.import({ data_orgsv1: { orgs: file.orgs } });
    expect(summary).toMatchObject({ proved: false, failed: {} });
    const { orgs } = migration(1);
    expect((await instance.import({ data_orgsv1: { orgs } })).summary.proved).toBe(false);
  });
});
