import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readError } from '../../../../../cli/zitadel/import/sendLedger.ts';
import { zitadelIssue } from '../../../../../shared/errors/recordIssues.ts';
import { zitadelText } from '../../../../support/fixtures/organisations.ts';

const answer = z.looseObject({
  errors: z.array(z.looseObject({ type: z.string(), id: z.string(), message: z.string() })),
});
const sent = { foreseen: 'created' } as const;
const outcomeOf = (
  { type, id, message }: z.infer<typeof answer>['errors'][number],
  record: Parameters<typeof readError>[1],
) => readError({ id, issue: { type, ...zitadelIssue(message) } }, record).outcome;

/** The errors of a recorded response that mean an outcome. */
function recorded(name: string, outcome: ReturnType<typeof outcomeOf>): string[] {
  const { errors } = answer.parse(JSON.parse(zitadelText(name)));
  return errors.filter((error) => outcomeOf(error, undefined) === outcome).map(({ type, id }) => `${type} ${id}`);
}

describe('the errors of an import into a ZITADEL', () => {
  it('are all expected if it has imported everything', () => {
    expect(recorded('import-of-our-adjusted-export-response', 'created')).toHaveLength(5);
    // ZITADEL adds these domains to the organisations itself.
    const automatic = recorded('import-of-our-adjusted-export-response', 'existing');
    expect(automatic).toHaveLength(3);
    for (const record of automatic) expect(record).toMatch(/^domain .+\.localhost$/);
    expect(recorded('import-of-our-adjusted-export-response', 'failed')).toEqual([]);
  });

  it('are unexpected if it has lost records', () => {
    expect(recorded('import-of-our-export-response', 'failed')).toEqual([
      'login_policy 400633194090597414',
      'user_metadata 400633268111674406_zone',
      'user_grant 400633194090597414_400633271701998630_400633268111674406',
      'user_grant 400633194090597414_400633271785884710_400633200197504038',
      'org_member 400633194090597414_400633268111674406',
    ]);
  });

  it('list the existing records after a second import, and the taken names', () => {
    expect(recorded('reimport-same-instance-response', 'existing')).toHaveLength(59);
    expect(recorded('reimport-same-instance-response', 'failed')).toEqual([
      'machine_user 330000000000000301',
      'machine_user 400522099862539302',
      'machine_user 330000000000000303',
      'project_member 330000000000000002_330000000000000101_330000000000000201',
      'project_member 330000000000000002_330000000000000102_330000000000000202',
    ]);
  });

  it('are failures for the ids of a deleted organisation, and for a name in another organisation', () => {
    const ids = ['COMMA-Bd2jj Message=Errors.Org.Domain.AlreadyExists', 'V3-DKcYh Message=Errors.Org.AlreadyExists'];
    for (const id of ids) expect(outcomeOf({ type: 'org', id: '1', message: `ID=${id}` }, sent)).toBe('failed');
  });

  it('are announced for a link whose identity provider is missing in the file, and for no other', () => {
    const error = { type: 'user_link', id: '1_2', message: 'ID=COMMAND-39nf2 Message=Errors.IDPConfig.NotExisting' };
    const announced = { foreseen: 'notCarried' } as const;
    expect(outcomeOf(error, announced)).toBe('notCarried');
    expect(outcomeOf(error, sent)).toBe('failed');
    const otherwise = { ...error, message: 'ID=COMMAND-vzktar7b7f Message=Errors.User.NotFound' };
    expect(outcomeOf(otherwise, announced)).toBe('failed');
  });

  it('report an existing organisation as one that the request did not have to create', () => {
    const error = { type: 'org', id: '1', message: 'ID=ORG-lapo2n Message=Errors.Org.AlreadyExisting' };
    expect(outcomeOf(error, undefined)).toBe('created');
    expect(outcomeOf(error, sent)).toBe('existing');
  });
});
