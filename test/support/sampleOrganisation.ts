import { randomInt } from 'node:crypto';

const id = () => `${randomInt(100_000_000, 999_999_999)}${randomInt(100_000_000, 999_999_999)}`;

/** Makes an organisation that no instance has yet, in the form in which an export has it. */
export function sampleOrganisation() {
  const [orgId, projectId, ada, ben, owner, inactive, robot] = [id(), id(), id(), id(), id(), id(), id()];
  const otpEmail = true;
  return {
    orgId,
    org: { name: `Acceptance ${orgId}` },
    projects: [{ projectId, project: { name: 'Portal' } }],
    projectRoles: [{ projectId, roleKey: 'reader', displayName: 'Reader' }],
    humanUsers: [
      person(ada, 'ada', { otpEmail }),
      person(ben, 'ben', { otpEmail }),
      person(owner, 'owner', {}),
      person(inactive, 'inactive', { state: 'USER_STATE_INACTIVE' }),
    ],
    machineUsers: [{ userId: robot, user: { userName: `robot-${robot}`, name: 'Robot' }, state: 'USER_STATE_ACTIVE' }],
    orgMembers: [{ userId: owner, roles: ['ORG_OWNER'] }],
    userMetadata: [{ id: ada, key: 'team', value: 'Z3JlZW4=' }],
    domains: [{ orgId, domainName: `${orgId}.example`, isVerified: true, isPrimary: true }],
    orgState: 'ORG_STATE_ACTIVE',
  };
}

/** The people of a sample organisation: two with the OTP e-mail factor, its owner, one who is deactivated. */
export function peopleOf({ humanUsers }: ReturnType<typeof sampleOrganisation>) {
  const [ada = '', ben = '', owner = '', inactive = ''] = humanUsers.map(({ userId }) => userId);
  return { ada, ben, owner, inactive };
}

function person(userId: string, name: string, more: { otpEmail?: boolean; state?: string }) {
  const user = {
    userName: `${name}-${userId}`,
    profile: { firstName: name, lastName: 'Sample', displayName: `${name} Sample`, preferredLanguage: 'de' },
    email: { email: `${name}-${userId}@example.com`, isEmailVerified: true },
    hashedPassword: { value: '$2a$10$xYu3FRwaIJ4OzeqczeLBDeSXX620POcGBmt8lfKM4RlSWsYIj.wCi' },
    otpCode: 'JBSWY3DPEHPK3PXP',
  };
  return { userId, user, state: 'USER_STATE_ACTIVE', ...more };
}
