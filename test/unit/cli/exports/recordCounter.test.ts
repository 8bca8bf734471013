import { expect, it } from 'vitest';
import { RecordCounter } from '../../../../cli/exports/recordCounter.ts';
import { ExportFileReader } from '../../../../shared/exportFile/reader.ts';
import { inPieces } from '../../../support/fixtures/bytes.ts';

const { signal } = new AbortController();

async function counts(orgs: readonly object[], isValidated = false) {
  const counter = new RecordCounter('north.json');
  for await (const _ of counter.count(
    { open: () => inPieces(Buffer.from(JSON.stringify({ orgs }))) },
    signal,
    isValidated,
  ));
  const { organisations, records, bytes } = counter;
  return { organisations, records, bytes };
}

const grant = { userId: 'u', projectId: 'p', roleKeys: ['r'] };

it('an organisation with a second entry, as in files for ZITADEL, counts once', async () => {
  const orgs = [
    { orgId: 'o', org: { name: 'O' }, projects: [{ projectId: 'p', project: { name: 'P' } }] },
    { orgId: 'o', userGrants: [grant, grant] },
  ];
  const { organisations, records } = await counts(orgs);
  expect([organisations, records]).toEqual([1, 4]);
});

it('the lists of a policy do not count as records', async () => {
  const loginPolicy = { secondFactors: [1, 2], multiFactors: [1] };
  expect(await counts([{ orgId: 'o', org: { name: 'O' }, loginPolicy }])).toMatchObject({ records: 2 });
});

it('records that the receiver validates are counted as those that are read', async () => {
  const orgs = [
    { orgId: 'o', org: { name: 'O' }, domainPolicy: null, loginPolicy: { multiFactors: [1] }, humanUsers: null },
    { orgId: 'p', org: {}, userGrants: [null, 1, 'text', [], grant], unknown: [{ humanUsers: [{}] }] },
  ];
  expect(await counts(orgs, true)).toEqual(await counts(orgs));
});

it('the JSON of a record is checked unless the receiver validates it', async () => {
  const bytes = Buffer.from('{"orgs":[{"orgId":"o","org":{"name":nothing}}]}');
  const read = async (isValidated: boolean) => {
    for await (const _ of new RecordCounter('north.json').count({ open: () => inPieces(bytes) }, signal, isValidated));
  };
  await expect(read(false)).rejects.toThrow('orgs[0].org.name');
  await expect(read(true)).resolves.toBeUndefined();
});

it.each([
  ['records that are no list', [{ orgId: 'o', humanUsers: {} }], 'orgs[0].humanUsers: expected a list'],
  ['an organisation that is no object', [[]], 'orgs[0]: expected an object'],
  ['two spellings of a field', [{ orgId: 'o', org_id: 'o' }], 'orgs[0].org_id: duplicate field "orgId"'],
])('a file with %s is rejected with the error of an import before it is sent', async (_, orgs, problem) => {
  await expect(counts(orgs)).rejects.toThrow(problem);
});

it('a file that its place validates is counted by the items that the place has read', async () => {
  const counter = new RecordCounter('north');
  const orgs = [{ orgId: 'o', org: { name: 'O' }, userGrants: [grant] }];
  const items = new ExportFileReader(() => true).push(Buffer.from(JSON.stringify({ orgs })));
  async function* open(_signal: AbortSignal, onItems: (read: typeof items) => void = () => {}) {
    onItems(items);
    yield Buffer.from('not read again');
  }
  for await (const _ of counter.count({ isValidated: true, open }, signal));
  const { organisations, records, bytes } = counter;
  expect({ organisations, records, bytes }).toEqual({ organisations: 1, records: 2, bytes: 14 });
});
