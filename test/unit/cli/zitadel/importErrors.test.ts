import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorKind } from '../../../../cli/zitadel/import/importOrganisations.ts';
import type { ImportError } from '../../../../functions/import/contract.ts';
import { zitadelText } from '../../../support/fixtures/organisations.ts';

const answer = z.looseObject({
  errors: z.array(z.looseObject({ type: z.string(), id: z.string().optional(), message: z.string() })),
});
const none = new Set<string>();
const facts = { isRepeat: false, creates: none, refusedLinks: none, host: 'localhost' };

/** The errors of a recorded answer that are of a kind. */
function recorded(name: string, kind: ReturnType<typeof errorKind>): string[] {
  const errors: ImportError[] = answer.parse(JSON.parse(zitadelText(name))).errors;
  return errors.filter((error) => errorKind(error, facts) === kind).map(({ type, id }) => `${type} ${id}`);
}

describe('the errors of a ZITADEL', () => {
  it('are all expected where it has imported everything', () => {
    expect(recorded('import-of-our-adjusted-export-response', 'expected')).toHaveLength(8);
    expect(recorded('import-of-our-adjusted-export-response', 'existing')).toEqual([]);
    expect(recorded('import-of-our-adjusted-export-response', 'real')).toEqual([]);
  });

  it('are real where it has lost records', () => {
    expect(recorded('import-of-our-export-response', 'real')).toEqual([
      'login_policy 400633194090597414',
      'user_metadata 400633268111674406_zone',
      'user_grant 400633194090597414_400633271701998630_400633268111674406',
      'user_grant 400633194090597414_400633271785884710_400633200197504038',
      'org_member 400633194090597414_400633268111674406',
    ]);
  });

  it('say what exists after a second import, and which names are taken', () => {
    expect(recorded('reimport-same-instance-response', 'existing')).toHaveLength(57);
    expect(recorded('reimport-same-instance-response', 'real')).toEqual([
      'machine_user 330000000000000301',
      'machine_user 400522099862539302',
      'machine_user 330000000000000303',
      'project_member 330000000000000002_330000000000000101_330000000000000201',
      'project_member 330000000000000002_330000000000000102_330000000000000202',
    ]);
  });

  it('are expected where the request was sent before', () => {
    const error = { type: 'human_user', id: '1', message: 'ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting' };
    expect(errorKind(error, facts)).toBe('existing');
    expect(errorKind(error, { ...facts, isRepeat: true })).toBe('expected');
  });

  it('are real for the ids of a deleted organisation, and for the name of another one', () => {
    const ids = ['COMMA-Bd2jj Message=Errors.Org.Domain.AlreadyExists', 'V3-DKcYh Message=Errors.Org.AlreadyExists'];
    for (const id of ids) expect(errorKind({ type: 'org', id: '1', message: `ID=${id}` }, facts)).toBe('real');
  });

  it('are announced for a link whose identity provider the file lacks, and for no other', () => {
    const error = { type: 'user_link', id: '1_2', message: 'ID=COMMAND-39nf2 Message=Errors.IDPConfig.NotExisting' };
    expect(errorKind(error, { ...facts, refusedLinks: new Set(['1_2']) })).toBe('announced');
    expect(errorKind(error, { ...facts, refusedLinks: new Set(['1_3']) })).toBe('real');
    const otherwise = { ...error, message: 'ID=COMMAND-vzktar7b7f Message=Errors.User.NotFound' };
    expect(errorKind(otherwise, { ...facts, refusedLinks: new Set(['1_2']) })).toBe('real');
  });

  it('take an existing organisation for one that the request was not to create', () => {
    const error = { type: 'org', id: '1', message: 'ID=ORG-lapo2n Message=Errors.Org.AlreadyExisting' };
    expect(errorKind(error, facts)).toBe('expected');
    expect(errorKind(error, { ...facts, creates: new Set(['1']) })).toBe('existing');
  });
});
