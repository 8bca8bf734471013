import { checkPerson } from '../recordChecks.ts';
import type { Section } from '../section.ts';
import { identityProvider, own, user, userName } from '../sectionParts.ts';

/** People and service users. */
export const userSections: readonly Section[] = [
  {
    name: 'humanUsers',
    inner: 'user',
    collection: 'users',
    phase: 2,
    key: ['userId'],
    unique: userName,
    reserved: [
      {
        type: 'domain',
        suffixOf: 'user.userName',
        reserved: { id: 'COMMAND-SFd21', key: 'Errors.User.DomainNotAllowedAsUsername' },
      },
    ],
    references: [identityProvider('user.idps[].configId', 'COMMAND-39nfs')],
    check: checkPerson,
    credentials: [
      { path: 'user.hashedPassword.value', field: 'passwordHash', flag: 'withPasswords' },
      { path: 'user.otpCode', field: 'totpSeed', flag: 'withOtp' },
    ],
    error: { type: 'human_user', id: ['userId'], exists: { id: 'COMMAND-ziuna', key: 'Errors.User.AlreadyExisting' } },
    success: { field: 'humanUserIds', entry: ['userId'] },
  },
  {
    name: 'machineUsers',
    inner: 'user',
    collection: 'users',
    phase: 2,
    key: ['userId'],
    unique: userName,
    error: {
      type: 'machine_user',
      id: ['userId'],
      exists: { id: 'COMMAND-k2una', key: 'Errors.User.AlreadyExisting' },
    },
    success: { field: 'machineUserIds', entry: ['userId'] },
  },
];

/** What others have noted of users. */
export const userMetadataSection: Section = {
  name: 'userMetadata',
  collection: 'userMetadata',
  phase: 3,
  key: ['id', 'key'],
  references: [own(user('id', 'COMMAND-uXHNj'))],
  error: {
    type: 'user_metadata',
    id: ['id', 'key'],
    exists: { id: 'IMPORT-metadataExists', key: 'Errors.Metadata.AlreadyExists' },
  },
  success: { field: 'userMetadata', entry: { userId: 'id', key: 'key' } },
};
