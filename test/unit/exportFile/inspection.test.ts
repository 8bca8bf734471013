import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { expandRepetitions } from '../../conformance/placeholders.ts';
import { readRecordings } from '../../conformance/recordedCase.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';

const brokenRules = z.object({
  request: z.object({ body: z.object({ dataOrgs: z.unknown() }) }),
  zitadel: z.object({ body: z.object({ message: z.string() }) }),
});
// Responses of a ZITADEL to documents that break a rule.
const broken = readRecordings().cases.filter(
  ({ name, zitadel }) =>
    // An unknown number of an enumeration counts as an unknown name, which is no fault.
    name.startsWith('validation: ') &&
    !JSON.stringify(zitadel.body).includes('one of the defined enum values') &&
    // Stored records may break these rules.
    !/(?:201 runes|preferredLanguage 11|> 2000 bytes|action timeout 21s)$/.test(name),
);

async function* bytes(document: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(document));
}

async function refusal(document: unknown, field?: string): Promise<IdentityError> {
  const source = { open: () => bytes(document), ...(field === undefined ? {} : { field }) };
  try {
    await inspect(source, new AbortController().signal);
  } catch (error) {
    if (error instanceof IdentityError) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

function person(userId: string, email: string) {
  const profile = { firstName: 'A', lastName: 'B' };
  return { userId, user: { userName: userId, profile, email: { email } } };
}

describe('a document that breaks a rule of its descriptors', () => {
  it.each(broken)("is rejected with ZITADEL's message: $name", async (recorded) => {
    const { request, zitadel } = brokenRules.parse(recorded);
    const { dataOrgs } = z.record(z.string(), z.unknown()).parse(expandRepetitions(request.body));
    expect((await refusal(dataOrgs, 'data_orgs')).message).toBe(zitadel.body.message);
  });

  it('is rejected with every violation and its place', async () => {
    const humanUsers = [person('a', 'a@example.com'), person('b', 'none'), person('', '')];
    const error = await refusal({ orgs: [{ orgId: 'x' }, { orgId: 'y', humanUsers, org: { name: '' } }] });
    expect(error.details).toEqual([
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [
          {
            field: 'orgs[1].humanUsers[1].user.email.email',
            description: 'expected an e-mail address, such as "ann@example.com" (record b)',
          },
          {
            field: 'orgs[1].humanUsers[2].user.userName',
            description: 'missing or empty: expected 1 to 200 characters',
          },
          {
            field: 'orgs[1].humanUsers[2].user.email.email',
            description: 'missing or empty: expected an e-mail address, such as "ann@example.com"',
          },
          { field: 'orgs[1].org.name', description: 'missing or empty: expected 1 to 200 characters' },
        ],
      },
      errorInfo('INVALID_REQUEST', { problem: expect.any(String) }),
    ]);
  });

  it('is rejected for an empty text of an optional field, which is to be removed', async () => {
    const machineUsers = [{ userId: 'm', user: { userId: '', userName: 'm', name: 'M' } }];
    const { message, details } = await refusal({ orgs: [{ orgId: 'y', machineUsers }] });
    expect(message).toMatch(/AddMachineUserRequest\.UserId: value length must be between 1 and 200 runes, inclusive$/);
    expect(details).toContainEqual(
      expect.objectContaining({
        fieldViolations: [
          { field: 'orgs[0].machineUsers[0].user.userId', description: 'empty: remove the field (record m)' },
        ],
      }),
    );
  });

  it('counts characters, not bytes nor UTF-16 units', async () => {
    const source = (primaryColor: string) => ({ orgs: [{ orgId: 'x', labelPolicy: { primaryColor } }] });
    const fits = { open: () => bytes(source('😀'.repeat(50))) };
    await expect(inspect(fits, new AbortController().signal)).resolves.toMatchObject({ counts: { labelPolicy: 1 } });
    expect((await refusal(source('😀'.repeat(51)))).message).toContain('at most 50 runes');
  });

  it('may omit the secret of an identity provider, as in an export without credentials', async () => {
    const idp = { name: 'x', clientId: 'c', issuer: 'https://x.example' };
    const source = { open: () => bytes({ orgs: [{ orgId: 'x', oidcIdps: [{ idpId: 'i', idp }] }] }) };
    await expect(inspect(source, new AbortController().signal)).resolves.toMatchObject({ counts: { oidcIdps: 1 } });
  });
});

it('a file with more organisations than fit into memory is read no further, including by commands', async () => {
  const entries = Buffer.from('{},'.repeat(10_000));
  const chunks = Math.ceil(getHeapStatistics().heap_size_limit / 2_200 / 10_000);
  let read = 0;
  async function* content() {
    yield Buffer.from('{"orgs":[');
    for (; read < 2 * chunks; read++) yield entries;
  }
  await expect(inspect({ open: content }, new AbortController().signal)).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: expect.stringMatching(/^more than \d+ organisations in one request: split the file$/),
  });
  expect(read).toBeLessThanOrEqual(chunks);
});
