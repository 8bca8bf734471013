import { expect, it } from 'vitest';
import { RecordCounter } from '../../../../cli/exports/recordCounter.ts';
import { inPieces } from '../../../support/fixtures/bytes.ts';

async function counts(orgs: readonly object[]) {
  const counter = new RecordCounter('north.json');
  for await (const _ of counter.count(inPieces(Buffer.from(JSON.stringify({ orgs })))));
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

it.each([
  ['records that are no list', [{ orgId: 'o', humanUsers: {} }], 'orgs[0].humanUsers: expected a list'],
  ['an organisation that is no object', [[]], 'orgs[0]: expected an object'],
  ['two spellings of a field', [{ orgId: 'o', org_id: 'o' }], 'orgs[0].org_id: duplicate field "orgId"'],
])('a file with %s is rejected with the error of an import before it is sent', async (_, orgs, problem) => {
  await expect(counts(orgs)).rejects.toThrow(problem);
});
