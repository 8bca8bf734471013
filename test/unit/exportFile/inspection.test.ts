import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inspect } from '../../../shared/exportFile/inspection.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import { InvalidRecordError } from '../../../shared/organisation/message.ts';
import { type OrganisationRecord, readRecord } from '../../../shared/organisation/record.ts';
import { expandRepetitions } from '../../conformance/placeholders.ts';
import { readRecordings } from '../../conformance/recordedCase.ts';

const brokenRules = z.object({
  request: z.object({ body: z.object({ dataOrgs: z.unknown() }) }),
  zitadel: z.object({ body: z.object({ message: z.string() }) }),
});
// Responses of ZITADEL to documents that break a rule.
const broken = readRecordings().cases.filter(
  ({ name, zitadel }) =>
    // An unknown number of an enumeration counts as an unknown name, which is no fault.
    name.startsWith('validation: ') &&
    !JSON.stringify(zitadel.body).includes('one of the defined enum values') &&
    // Stored records may break these rules.
    !/(?:201 runes|preferredLanguage 11|> 2000 bytes|action timeout 21s|idp ownerType unspecified)$/.test(name),
);

async function* bytes(document: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(document));
}

const documents = z.object({ orgs: z.array(z.looseObject({ orgId: z.string().default('') })) });

/** Returns ZITADEL's messages for the broken rules of a document's records. */
function messagesOf(document: unknown): (string | undefined)[] {
  return documents.parse(document).orgs.flatMap((org) =>
    recordSections.flatMap((section) =>
      (section.name === 'org'
        ? org.org === undefined
          ? []
          : [{ org: org.org }]
        : [org[section.name] ?? []].flat()
      ).flatMap((record) => {
        try {
          readRecord(section, record, org.orgId, true);
          return [];
        } catch (error) {
          if (!(error instanceof InvalidRecordError)) throw error;
          return error.issues.map(({ message }) => message);
        }
      }),
    ),
  );
}

/** Returns the issues of a document's invalid records, each without the place in ZITADEL's wording. */
async function invalidIn(document: unknown): Promise<{ readonly zitadels: string; readonly places: string[] }[]> {
  const found: OrganisationRecord[] = [];
  const visitor = { add: (record: OrganisationRecord) => void found.push(record), reset: () => void found.splice(0) };
  await inspect({ open: () => bytes(document) }, new AbortController().signal, { visitor });
  return found.flatMap(({ invalid }) => {
    if (invalid === undefined) return [];
    const [zitadels = '', ...places] = invalid.key.split('; ');
    return [{ zitadels, places }];
  });
}

function person(userId: string, email: string) {
  const profile = { firstName: 'A', lastName: 'B' };
  return { userId, user: { userName: userId, profile, email: { email } } };
}

describe('a record that breaks a rule of its definition', () => {
  it.each(broken)("has an issue in ZITADEL's words: $name", (recorded) => {
    const { request, zitadel } = brokenRules.parse(recorded);
    const { dataOrgs } = z.record(z.string(), z.unknown()).parse(expandRepetitions(request.body));
    const messages = messagesOf(dataOrgs);
    expect(messages).toHaveLength(1);
    // ZITADEL's message begins with the request, whose records are all lost.
    expect(zitadel.body.message.endsWith(` | caused by: ${messages[0]}`)).toBe(true);
  });

  it('is invalid with the place of every broken rule', async () => {
    const humanUsers = [person('a', 'a@example.com'), person('b', 'none'), person('', '')];
    const invalid = await invalidIn({ orgs: [{ orgId: 'x' }, { orgId: 'y', humanUsers, org: { name: '' } }] });
    const address = 'expected an e-mail address, such as "ann@example.com"';
    expect(invalid.map(({ places }) => places)).toEqual([
      [`orgs[1].humanUsers[1].user.email.email: ${address}`],
      [
        'orgs[1].humanUsers[2].user.userName: missing or empty: expected at least 1 character',
        `orgs[1].humanUsers[2].user.email.email: missing or empty: ${address}`,
      ],
      ['orgs[1].org.name: missing or empty: expected at least 1 character'],
    ]);
  });

  it('is imported without an optional text that is empty', async () => {
    const machineUsers = [{ userId: 'm', user: { userId: '', userName: 'm', name: 'M' } }];
    const document = { orgs: [{ orgId: 'y', machineUsers }] };
    expect(await invalidIn(document)).toEqual([]);
    expect(messagesOf(document)[0]).toMatch(
      /AddMachineUserRequest\.UserId: value length must be between 1 and 200 runes, inclusive$/,
    );
  });

  it('has its length counted in characters, not in bytes nor UTF-16 units', () => {
    const source = (primaryColor: string) => ({ orgs: [{ orgId: 'x', labelPolicy: { primaryColor } }] });
    expect(messagesOf(source('😀'.repeat(50)))).toEqual([]);
    expect(messagesOf(source('😀'.repeat(51)))[0]).toContain('at most 50 runes');
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
    message: expect.stringMatching(/^more than \d+ organisations of a file: export fewer organisations at a time$/),
  });
  expect(read).toBeLessThanOrEqual(chunks);
});
