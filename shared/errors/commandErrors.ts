// Errors of the `identity` command on one instance: its accounts, files and ports.

import { defineError } from './identityError.ts';

export const instanceInitialised = defineError('FAILED_PRECONDITION', 'INSTANCE_ALREADY_INITIALISED', {
  text: 'the instance is already initialised: create further tokens with `identity pat create`',
});

export const tokenFileUnusable = defineError('INVALID_ARGUMENT', 'TOKEN_FILE_UNUSABLE', {
  text: (file: string, problem: string) => `${file} ${problem}: specify a new file for the token`,
  example: ['./north.pat', 'exists'],
});

export const fileNotOwn = defineError('PERMISSION_DENIED', 'FILE_NOT_OWN', {
  text: (problem: string) => problem,
  example: ['others can change ./north: run chmod go-w ./north'],
});

export const userUnknown = defineError('NOT_FOUND', 'USER_UNKNOWN', {
  text: (userId: string) =>
    `user ${userId} not found: check the id, and that --data or --firestore names the right instance`,
  example: ['310716089541329'],
});

export const tokenUnknown = defineError('NOT_FOUND', 'TOKEN_UNKNOWN', {
  text: (tokenId: string) => `token ${tokenId} not found: identity pat list shows the tokens of a user`,
  example: ['6f1ed002ab5595859014ebf0951522d9'],
});

export const organisationUnknown = defineError('NOT_FOUND', 'ORGANISATION_UNKNOWN', {
  text: (orgId: string) =>
    `organisation ${orgId} not found: check the id, and that --data or --firestore names the right instance`,
  example: ['310716089541007'],
});

export const defaultOrganisationKept = defineError('FAILED_PRECONDITION', 'DEFAULT_ORGANISATION_UNDELETABLE', {
  text: (orgId: string) => `organisation ${orgId} is the default organisation, which stays: omit it`,
  example: ['310716089541007'],
});

export const removalSuperseded = defineError('ABORTED', 'REMOVAL_SUPERSEDED', {
  text: (orgId: string) =>
    `another call of identity org delete has removed organisation ${orgId} meanwhile: repeat the command for the others`,
  example: ['310716089541007'],
});

export const notServiceUser = defineError('FAILED_PRECONDITION', 'NOT_A_SERVICE_USER', {
  text: (userId: string) => `user ${userId} is a person: specify a service user`,
  example: ['310716089541329'],
});

export const userNameTaken = defineError('ALREADY_EXISTS', 'USER_NAME_TAKEN', {
  text: (name: string) => `user name ${name} is already in use: choose another name`,
  example: ['migration'],
});

export const nameInvalid = defineError('INVALID_ARGUMENT', 'NAME_INVALID', {
  text: (problem: string) => `invalid name: ${problem}`,
  example: ['user.userName: value length must be at least 1 characters'],
});

export const roleUnknown = defineError('INVALID_ARGUMENT', 'ROLE_UNKNOWN', {
  text: (role: string, place: string, fitting: readonly string[]) =>
    `invalid role ${role} for ${place}: choose one of ${fitting.join(', ')}`,
  example: ['ORG_OWNER', 'the instance', ['IAM_OWNER', 'IAM_USER_MANAGER']],
});

export const roleNotHeld = defineError('NOT_FOUND', 'ROLE_NOT_HELD', {
  text: (userId: string, role: string) =>
    `user ${userId} does not hold the role ${role}: check the role, and whether --org is needed`,
  example: ['310716089541329', 'IAM_OWNER'],
});

export const rolesIncompatible = defineError('FAILED_PRECONDITION', 'ROLES_INCOMPATIBLE', {
  text: (userId: string, role: string, held: readonly string[]) =>
    `user ${userId} cannot have both ${role} and ${held.join(', ')}: remove one of them`,
  example: ['310716089541329', 'SELF_MANAGEMENT_GLOBAL', ['ORG_OWNER']],
});

export const memberInvalid = defineError('INVALID_ARGUMENT', 'MEMBER_INVALID', {
  text: (userId: string, problem: string) =>
    `user ${userId} cannot be a member of an organisation: ${problem}; give the role to another user`,
  example: ['auth0|5f7c8ec7c33c6c004bbafe82', 'userId: value length must be between 1 and 200 runes, inclusive'],
});

export const lastOwner = defineError('FAILED_PRECONDITION', 'LAST_OWNER', {
  text: (userId: string) =>
    `user ${userId} is the last active IAM_OWNER: grant the role to another user with \`identity member add\`, or add --force`,
  example: ['310716089541329'],
});

export const stateUnsuitable = defineError('FAILED_PRECONDITION', 'USER_STATE_UNSUITABLE', {
  text: (userId: string, state: string, change: string) =>
    `cannot ${change} user ${userId}, whose state is ${state}: only active and initial users can be locked, and only locked ones unlocked`,
  example: ['310716089541329', 'USER_STATE_INACTIVE', 'lock'],
});

export const otpEmailSet = defineError('ALREADY_EXISTS', 'OTP_EMAIL_ALREADY_SET', {
  id: 'COMMAND-MKL2s',
  text: 'Multifactor OTP (OneTimePassword) is already set up',
});

export const notInstanceFile = defineError('FAILED_PRECONDITION', 'BACKUP_INVALID', {
  text: 'the file is not an intact database of an instance: specify a file that `identity backup` has written',
});

export const instanceMissing = defineError('NOT_FOUND', 'INSTANCE_MISSING', {
  text: (directory: string) => `no instance in ${directory}: create one with identity init`,
  example: ['./north'],
});

export const instanceReplaced = defineError('ABORTED', 'INSTANCE_REPLACED', {
  text: (file: string) => `${file} was moved or replaced: start the command again`,
  example: ['/data/identity.sqlite'],
});

export const instanceExists = defineError('ALREADY_EXISTS', 'INSTANCE_EXISTS', {
  text: (content: string, directory: string) => `there is ${content} in ${directory}: restore into another directory`,
  example: ['an instance', './north'],
});

export const fileExists = defineError('ALREADY_EXISTS', 'BACKUP_EXISTS', {
  text: (file: string) => `${file} exists: choose another name`,
  example: ['/backups/north.backup'],
});

export const backupKeyMissing = defineError('FAILED_PRECONDITION', 'BACKUP_KEY_MISSING', {
  text: (file: string) =>
    `the secrets in ${file} are encrypted, and a backup has no master key: specify a copy of the instance's master.key with --key FILE`,
  example: ['north.backup'],
});

export const portInUse = defineError('FAILED_PRECONDITION', 'PORT_IN_USE', {
  text: (port: number, setting: string) =>
    `port ${port} is in use: stop the program that listens there, or choose another port with ${setting} (0 picks a free one)`,
  example: [8080, '--port'],
});

export const portForbidden = defineError('FAILED_PRECONDITION', 'PORT_FORBIDDEN', {
  text: (port: number, setting: string) =>
    `no permission to listen on port ${port}: choose one above 1023 with ${setting}, and let a proxy listen there`,
  example: [80, '--port'],
});

export const hostNeedsProxy = defineError('FAILED_PRECONDITION', 'HOST_NEEDS_PROXY', {
  text: (host: string) =>
    `other machines reach ${host}: put a proxy with TLS in front, such as Caddy with hosting/Caddyfile, and set TRUSTED_PROXIES=1`,
  example: ['0.0.0.0'],
});

export const hostUnknown = defineError('FAILED_PRECONDITION', 'HOST_UNKNOWN', {
  text: (host: string) => `this machine has no address ${host}: choose one that it has with --host, such as 127.0.0.1`,
  example: ['192.0.2.1'],
});
