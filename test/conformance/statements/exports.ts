import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import { error, exporting, human, importingOrgs, includes, organisation, row, rowOf } from './statement.ts';

const hashedPassword = { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' };

/** What an export carries (specification 2.4, zitadel 4). */
export function exportRows({ id }: Subjects): Row[] {
  const orgId = id('exported');
  const userId = `person-${orgId}`;
  const person = { ...human(userId, { hashedPassword, otpCode: 'JBSWY3DPEHPK3PXP' }), otpEmail: true };
  const carried = (name: string, flags: object, user: object, more: object = {}) =>
    row(
      'specification 2.4',
      name,
      exporting({ orgIds: [orgId], ...flags }),
      includes({ orgs: [{ orgId, humanUsers: [{ userId, user, ...more }] }] }),
    );
  const created = { orgId, humanUserIds: [userId] };
  return [
    rowOf('specification 2.4', 'only the organisations that are asked for are exported', [
      {
        request: importingOrgs(organisation(orgId, { humanUsers: [person] })),
        expected: includes({ errors: undefined, success: { orgs: [created] } }),
      },
      { request: exporting({ orgIds: [orgId, 'none'] }), expected: includes({ orgs: [{ orgId }] }) },
    ]),
    carried('neither passwords nor OTP unless asked for', {}, { hashedPassword: undefined, otpCode: undefined }),
    carried('with_passwords', { withPasswords: true }, { hashedPassword, otpCode: undefined }),
    carried(
      'with_otp',
      { withOtp: true },
      { hashedPassword: undefined, otpCode: 'JBSWY3DPEHPK3PXP' },
      { otpEmail: true },
    ),
    row(
      'specification 2.4',
      'an excluded organisation is left out',
      exporting({ orgIds: [orgId], excludedOrgIds: [orgId] }),
      includes({ orgs: [] }),
    ),
    row(
      'specification 4.2',
      'no output',
      exporting({ orgIds: [orgId], responseOutput: false }),
      error(400, 3, /^response_output: /),
      'An export that is written nowhere is refused; ZITADEL knows one output only and returns it unasked.',
    ),
    row(
      'zitadel 4.5',
      's3_output',
      exporting({ s3Output: { bucket: 'b' } }),
      error(501, 12, /^s3_output is not supported/),
      'This output is not offered, and ZITADEL ignores it.',
    ),
  ];
}
