import type { Row } from '../row.ts';
import type { Subjects } from '../subjects.ts';
import {
  equals,
  error,
  exporting,
  human,
  importingOrgs,
  includes,
  organisation,
  row,
  rowOf,
  unlike,
} from './statement.ts';

const hashedPassword = { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' };

/** What an export carries (specification 2.4, zitadel 4). */
export function exportRows({ id }: Subjects): Row[] {
  const orgId = id('exported');
  return [...contents(orgId), ...outputs(orgId), excluded(orgId)];
}

function contents(orgId: string): Row[] {
  const userId = `person-${orgId}`;
  const person = { ...human(userId, { hashedPassword, otpCode: 'JBSWY3DPEHPK3PXP' }), otpEmail: true };
  const asked = (flags: object) => exporting({ orgIds: [orgId], ...flags });
  const exported = (user: object, more: object = {}) =>
    includes({ orgs: [{ orgId, humanUsers: [{ userId, user, ...more }] }] });
  const carried = (name: string, flags: object, user: object) =>
    row('specification 2.4', name, asked(flags), exported(user));
  const seed = { hashedPassword: undefined, otpCode: 'JBSWY3DPEHPK3PXP' };
  const factor = 'An export with the factors tells who has OTP by e-mail; ZITADEL’s format has no field for it.';
  return [
    rowOf('specification 2.4', 'only the organisations that are asked for are exported', [
      {
        request: importingOrgs(organisation(orgId, { humanUsers: [person] })),
        expected: includes({ errors: undefined, success: { orgs: [{ orgId, humanUserIds: [userId] }] } }),
      },
      {
        request: exporting({ orgIds: [orgId, 'none'] }),
        expected: includes({ orgs: [{ orgId, humanUsers: [{ userId }] }] }),
        follows: true,
      },
    ]),
    carried('neither passwords nor OTP unless asked for', {}, { hashedPassword: undefined, otpCode: undefined }),
    carried('with_passwords', { withPasswords: true }, { hashedPassword, otpCode: undefined }),
    ...unlike('specification 2.4', 'with_otp', factor, asked({ withOtp: true }), {
      ours: exported(seed, { otpEmail: true }),
      zitadel: exported(seed, { otpEmail: undefined }),
    }),
  ];
}

function outputs(orgId: string): Row[] {
  return [
    ...unlike(
      'specification 4.2',
      'no output',
      'An export that is written nowhere is refused; ZITADEL knows one output only and returns it unasked.',
      exporting({ orgIds: [orgId], responseOutput: false }),
      { ours: error(400, 3, /^response_output: /), zitadel: includes({ orgs: [{ orgId }] }) },
    ),
    ...unlike(
      'zitadel 4.5',
      's3_output',
      'This output is not offered, and ZITADEL ignores it.',
      exporting({ orgIds: ['none'], s3Output: { bucket: 'b' } }),
      { ours: error(501, 12, /^s3_output is not supported/), zitadel: equals({}) },
    ),
  ];
}

/** ZITADEL documents the field, so it is documented here, whatever its releases do. */
function excluded(orgId: string): Row {
  return {
    name: 'an excluded organisation is left out',
    origin: 'specification 2.4',
    feature: 'documented',
    steps: [{ request: exporting({ orgIds: [orgId], excludedOrgIds: [orgId] }), expected: equals({}) }],
    danger: 'An exclusion that matches ends the process of the ZITADEL whose answers are recorded.',
  };
}
