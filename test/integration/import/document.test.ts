import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { comparable } from '../../support/fixtures/comparable.ts';
import { withInnerIds } from '../../support/fixtures/filledOrganisation.ts';
import { organisation, person, zitadelExport } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const details = z.tuple(
  [z.object({ fieldViolations: z.array(z.object({ field: z.string(), description: z.string() })).min(1) })],
  z.unknown(),
);

/** An instance, and its rejection of an import: with these violations and without a single write. */
async function strictInstance() {
  let writes = 0;
  const store = watchedStore(await openTestStore(sqlite), (some) => {
    writes += some.length;
  });
  const instance = await testInstance(store);
  const refused = async (body: unknown) => {
    writes = 0;
    const answer = await instance.refusedImport(body);
    expect({ status: answer.status, code: answer.body.code, writes }).toEqual({ status: 400, code: 3, writes: 0 });
    return details.parse(answer.body.details)[0].fieldViolations;
  };
  return { instance, refused };
}

/** A request around the JSON of a document. */
const around = (document: string) => `{"timeout":"1m","data_orgs":${document}}`;
const valid = JSON.stringify(organisation('O', { humanUsers: [person('A'), person('B')] }));

describe('a document', () => {
  const nothing = { errors: undefined, success: {}, created: {} };

  it.each(['{"orgs":[]}', '{"orgs":null}', ' { "orgs" : [ ] } ', '{}', ' { } '])(
    'may have no organisations: %j',
    async (document) => {
      const { instance } = await strictInstance();
      for (const field of ['data_orgs', 'dataOrgs', 'data_orgsv1', 'dataOrgsv1']) {
        for (const value of [document, JSON.stringify(document)]) {
          const { errors, success, summary } = await instance.import(`{"${field}":${value}}`);
          expect({ errors, success, created: summary.created }).toEqual(nothing);
        }
      }
    },
  );

  it('may have unknown fields, at every depth and of every kind', async () => {
    const { instance } = await strictInstance();
    const unknown = { a: 1, 'b]}"': ['x', { y: [null, '\\"'] }], c: null, d: true };
    const { profile, ...user } = {
      ...person('A').user,
      ...unknown,
      profile: { firstName: 'F', lastName: 'L', ...unknown },
    };
    const org = {
      ...unknown,
      ...organisation('O', {
        humanUsers: [{ ...unknown, userId: 'A', user: { ...user, profile } }],
        futures: [[{}], 1, 'x', null],
      }),
      org: { name: 'N', ...unknown },
    };
    const { errors, success } = await instance.import({
      ...unknown,
      dataOrgs: { ...unknown, orgs: [org], later: [{ orgs: [1] }, null] },
    });
    expect({ errors, orgs: success.orgs }).toEqual({ errors: undefined, orgs: [{ orgId: 'O', humanUserIds: ['A'] }] });
    expect((await instance.export()).bytes).not.toMatch(/b\]|futures|later/);
  });

  it('may have unknown lists and objects of any size, as may the request', async () => {
    const { instance } = await strictInstance();
    const large = { a: 'x'.repeat(600_000), b: 'x'.repeat(600_000) };
    const org = { ...organisation('O', { humanUsers: [person('A')] }), future: large, futures: [large.a, large.b] };
    const document = { future: large, orgs: [org], futures: [large.a, [large.b]] };
    const { summary } = await instance.import({ future: large, dataOrgs: document, futures: Object.values(large) });
    expect(summary.created).toEqual({ org: 1, humanUsers: 1 });
    expect(summary.notCarried).toEqual({ future: 2, futures: 4 });
  });

  it('may have the id of an organisation after its records, and the fields in any order', async () => {
    const { instance } = await strictInstance();
    const orgs = zitadelExport('export-full').map((org) => Object.fromEntries(Object.entries(org).reverse()));
    const { errors } = await instance.import({ dataOrgs: { orgs }, with_keys: true });
    expect(errors).toBeUndefined();
    const other = await strictInstance();
    await other.instance.import({ dataOrgs: { orgs: zitadelExport('export-full') }, with_keys: true });
    const [one, two] = [await instance.export(), await other.instance.export()];
    expect(comparable(one.orgs)).toEqual(comparable(two.orgs));
    expect(one.manifest.digest).toBe(two.manifest.digest);
  });

  it('may have its organisations in any order', async () => {
    const { instance } = await strictInstance();
    const orgs = zitadelExport('export-full').toReversed();
    const { errors, success } = await instance.import({ dataOrgs: { orgs }, with_keys: true });
    expect(errors).toBeUndefined();
    expect(success.orgs?.map(({ orgId }) => orgId)).toEqual(orgs.map(({ orgId }) => orgId));
  });

  it('may be in snake_case throughout', async () => {
    const { instance } = await strictInstance();
    const snake = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(snake);
      if (typeof value !== 'object' || value === null) return value;
      // This field alone is in camelCase in ZITADEL's own definition.
      const name = (key: string) =>
        key === 'ownerType' ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [name(key), snake(part)]));
    };
    const orgs = zitadelExport('export-full');
    const { errors } = await instance.import({ data_orgs: { orgs: snake(orgs) }, with_keys: true });
    expect(errors).toBeUndefined();
    const expected = orgs.map(({ projectMembers, ...org }, index) => (index === 0 ? { ...org, projectMembers } : org));
    expect(comparable((await instance.export()).orgs)).toEqual(comparable(expected.map(withInnerIds)));
  });

  it('may have null for any unset field', async () => {
    const { instance } = await strictInstance();
    const org = organisation('O', { humanUsers: null, loginPolicy: null, orgState: null, projects: [] });
    const { errors, summary } = await instance.import({ dataOrgs: { orgs: [org] } });
    expect({ errors, created: summary.created }).toEqual({ errors: undefined, created: { org: 1 } });
  });
});

describe('an invalid document', () => {
  it.each<[what: string, document: string, field: string, description?: string]>([
    ...[
      ['name', '"org":{"name":"O"}', '"org":{"name":"P"}', 'org'],
      ['state', '"orgState":"ORG_STATE_ACTIVE"', '"orgState":"ORG_STATE_INACTIVE"', 'orgState'],
      [
        'list of a v1 login policy',
        '"idps":[{"idpId":"x","ownerType":1}]',
        '"idps":[{"idpId":"y","ownerType":1}]',
        'idps',
      ],
    ].map(([what, first, second, field]): [string, string, string, string] => [
      `an organisation with another ${what} than in an earlier entry`,
      `{"orgs":[{"orgId":"O",${first}},{${second},"orgId":"O"}]}`,
      `orgs[1].${field}`,
      `orgs[0].${field}`,
    ]),
    ['another file than an export', '{"organisations":[]}', 'orgs'],
    ['a manifest without organisations', '{"manifest":null}', 'orgs'],
    ['an organisation that is a list', '{"orgs":[[]]}', 'orgs[0]'],
    ['an organisation that is null', `{"orgs":[${valid},null]}`, 'orgs[1]'],
    ['organisations that are an object', '{"orgs":{}}', 'orgs'],
    ['organisations that are text', '{"orgs":"x"}', 'orgs'],
    ['a list that is an object', '{"orgs":[{"orgId":"O","humanUsers":{}}]}', 'orgs[0].humanUsers'],
    ['a list that is a number', '{"orgs":[{"orgId":"O","humanUsers":1}]}', 'orgs[0].humanUsers'],
    ['an id that is a number', '{"orgs":[{"orgId":1}]}', 'orgs[0].orgId'],
    ['a field twice', '{"orgs":[{"orgId":"O","orgId":"O"}]}', 'orgs[0].orgId'],
    ['a field in both spellings', '{"orgs":[{"orgId":"O","org_id":"O"}]}', 'orgs[0].org_id'],
    ['a list in both spellings', '{"orgs":[{"orgId":"O","humanUsers":[],"human_users":[]}]}', 'orgs[0].human_users'],
    [
      'a record that is no JSON',
      `{"orgs":[${valid},{"orgId":"P","actions":[{"actionId":}]}]}`,
      'orgs[1].actions[0].actionId',
    ],
  ])('is rejected with its place before anything is written: %s', async (_what, document, field, description = '') => {
    const { refused } = await strictInstance();
    const faults = await refused(around(document));
    expect(faults).toEqual([{ field, description: expect.stringContaining(description) }]);
    const inString = await refused({ timeout: '1m', data_orgsv1: document });
    expect(inString.map((fault) => fault.field)).toEqual([field]);
  });

  it.each(['[]', '"x"', '1', 'true', '["orgs"]'])('is rejected if it is not an object: %s', async (document) => {
    const { refused } = await strictInstance();
    await refused(around(document));
    await refused({ data_orgsv1: document });
  });

  it.each([
    ['{timeout:1}', 'invalid request body: unexpected "t", expected a field name in double quotes (line 1, column 2)'],
    ['{"timeout":', 'timeout: unexpected end of JSON input'],
    ['', 'invalid request body: unexpected end of JSON input'],
    [
      '{}{}',
      'invalid request body: unexpected second document (use one document per file) after the end of the document (line 1, column 3)',
    ],
    ['[]', 'the request body must be a JSON object'],
    [`{"timeout":"${'1'.repeat(1_000_000)}"}`, 'timeout: the value exceeds 1000000 bytes'],
    [`{"future":["${'1'.repeat(1_000_000)}"]}`, 'future[0]: the value exceeds 1000000 bytes'],
    [
      `{"timeout":"1m","data_orgs":{"orgs":[{"orgId":"O","humanUsers":[{"userId":"A"]}]}}`,
      'orgs[0].humanUsers[0].userId: unexpected "]", expected "," or "}" (line 1, column 50)',
    ],
    ['{"data_orgs_gcs":{"bucket":"a","bucket":"b"}}', 'data_orgs_gcs.bucket: duplicate field "bucket"'],
    [
      '{"data_orgs":\n{"orgs":\n[\u00a0]}}',
      'orgs[0]: unexpected U+00A0 (a special space: replace it with an ordinary space), expected a value (line 2, column 2)',
    ],
    ['{"future":{"a":}}', 'future.a: unexpected "}", expected a value (line 1, column 16)'],
  ])('is rejected with the place in the request: %.20s', async (body, message) => {
    const { instance } = await strictInstance();
    expect((await instance.refusedImport(body)).body.message).toBe(message);
  });

  it('is rejected even if only the last of many records has a name twice', async () => {
    const { refused, instance } = await strictInstance();
    const humanUsers = Array.from({ length: 600 }, (_, index) => person(`U${index}`));
    const text = JSON.stringify(organisation('O', { humanUsers })).replace('"userId":"U599"', '$&,$&');
    expect((await refused(around(`{"orgs":[${text}]}`)))[0]?.field).toBe('orgs[0].humanUsers[599].userId');
    expect((await instance.export()).orgs).toEqual([]);
  });
});

it('a file with a manifest is proved even if its keys are not imported', async () => {
  const { instance } = await strictInstance();
  const source = await testInstance(await openTestStore(sqlite), 'source');
  await source.import({ dataOrgs: { orgs: zitadelExport('export-full') }, with_keys: true });
  const { summary } = await instance.import(around((await source.export()).bytes));
  expect(summary).toMatchObject({ proved: true, notCarried: { appKeys: 1, machineKeys: 1 } });
});
