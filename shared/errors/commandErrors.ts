import { defineError } from './identityError.ts';

// Errors of the `identity` command on one instance: its accounts, files and ports. They appear on standard error.

export const instanceInitialised = defineError('FAILED_PRECONDITION', 'INSTANCE_ALREADY_INITIALISED', {
  text: 'the instance is already initialised: create further tokens with `identity pat create`',
  when: '`identity init` ran before on this instance.',
});

export const tokenFileUnusable = defineError('INVALID_ARGUMENT', 'TOKEN_FILE_UNUSABLE', {
  text: (file: string, problem: string) => `${file} ${problem}: specify a new file for the token`,
  example: ['./north.pat', 'exists'],
  when: 'The file for a new token exists, or its directory does not. No token was created.',
  remedy:
    'Specify another file, in a directory where only you can write; or delete the earlier token and its file first.',
});

export const fileNotOwn = defineError('PERMISSION_DENIED', 'FILE_NOT_OWN', {
  text: (problem: string) => problem,
  example: ['others can change ./north: run chmod go-w ./north'],
  when: 'A file or directory that the command believes belongs to another user than the one who runs it and root, others can change it, it is behind a symbolic link of another user, or a file of a run directory is a symbolic link. Nothing of it was read. [SECURITY.md](../SECURITY.md#logs-and-files) says which files these are.',
  remedy:
    'Run the command as the owner. If the file is yours, and you know that nobody has changed it, take the permission from all others with `chmod go-w`.',
});

export const userUnknown = defineError('NOT_FOUND', 'USER_UNKNOWN', {
  text: (userId: string) => `user ${userId} not found`,
  example: ['310716089541329'],
  when: 'No user has the id, the user is deleted, or `otp-email enable` was given a service user.',
  remedy: 'Check the id, and that `--data` or `--firestore` names the right instance.',
});

export const tokenUnknown = defineError('NOT_FOUND', 'TOKEN_UNKNOWN', {
  text: (tokenId: string) => `token ${tokenId} not found`,
  example: ['6f1ed002ab5595859014ebf0951522d9'],
  when: 'No token has the id: it may be revoked already.',
  remedy: 'List the tokens of a user with `identity pat list`.',
});

export const organisationUnknown = defineError('NOT_FOUND', 'ORGANISATION_UNKNOWN', {
  text: (orgId: string) => `organisation ${orgId} not found`,
  example: ['310716089541007'],
  when: 'No organisation has the id.',
  remedy: 'Check the id, and that `--data` or `--firestore` names the right instance.',
});

export const defaultOrganisationKept = defineError('FAILED_PRECONDITION', 'DEFAULT_ORGANISATION_UNDELETABLE', {
  text: (orgId: string) => `organisation ${orgId} is the default organisation, which stays: omit it`,
  example: ['310716089541007'],
  when: '`identity org delete` was given the organisation that `identity init` has created.',
});

export const removalSuperseded = defineError('ABORTED', 'REMOVAL_SUPERSEDED', {
  text: (orgId: string) =>
    `another call of identity org delete has removed organisation ${orgId} meanwhile: repeat the command for the others`,
  example: ['310716089541007'],
  when: 'Two calls of the command remove the same organisation at the same time.',
  remedy: 'Repeat the command with the ids that `identity org list` still shows.',
});

export const notServiceUser = defineError('FAILED_PRECONDITION', 'NOT_A_SERVICE_USER', {
  text: (userId: string) => `user ${userId} is a person: specify a service user`,
  example: ['310716089541329'],
  when: '`identity service-user` was given the id of a person.',
});

export const userNameTaken = defineError('ALREADY_EXISTS', 'USER_NAME_TAKEN', {
  text: (name: string) => `user name ${name} is already in use: choose another one`,
  example: ['migration'],
  when: 'Another user has the name.',
});

export const nameInvalid = defineError('INVALID_ARGUMENT', 'NAME_INVALID', {
  text: (problem: string) => `invalid name: ${problem}`,
  example: ['user.userName: value length must be at least 1 characters'],
  when: 'The name of an instance or service user breaks a rule of export files, so that no instance could import it; or it is blank, or contains control characters.',
  remedy: 'Choose another name.',
});

export const roleUnknown = defineError('INVALID_ARGUMENT', 'ROLE_UNKNOWN', {
  text: (role: string, place: string, fitting: readonly string[]) =>
    `invalid role ${role} for ${place}: choose one of ${fitting.join(', ')}`,
  example: ['ORG_OWNER', 'the instance', ['IAM_OWNER', 'IAM_USER_MANAGER']],
  when: 'No role has this name, or only at the other level: roles of the instance start with `IAM_`.',
  remedy: 'Choose a listed role, or change the level with `--org`.',
});

export const roleNotHeld = defineError('NOT_FOUND', 'ROLE_NOT_HELD', {
  text: (userId: string, role: string) => `user ${userId} does not hold the role ${role}`,
  example: ['310716089541329', 'IAM_OWNER'],
  when: 'The role to remove is not held there.',
  remedy: 'Check the role, and whether `--org` is needed.',
});

export const rolesIncompatible = defineError('FAILED_PRECONDITION', 'ROLES_INCOMPATIBLE', {
  text: (userId: string, role: string, held: readonly string[]) =>
    `user ${userId} cannot have both ${role} and ${held.join(', ')}: remove one of them`,
  example: ['310716089541329', 'SELF_MANAGEMENT_GLOBAL', ['ORG_OWNER']],
  when: 'A member of an organisation holds either `SELF_MANAGEMENT_GLOBAL` or other roles. No instance could import both.',
});

export const memberInvalid = defineError('INVALID_ARGUMENT', 'MEMBER_INVALID', {
  text: (userId: string, problem: string) => `user ${userId} cannot be a member of an organisation: ${problem}`,
  example: ['auth0|5f7c8ec7c33c6c004bbafe82', 'userId: value length must be between 1 and 200 runes, inclusive'],
  when: 'The membership breaks a rule of export files, so that no instance could import it: the id of the user has more than 200 characters.',
  remedy: 'Give the role to another user.',
});

export const lastOwner = defineError('FAILED_PRECONDITION', 'LAST_OWNER', {
  text: (userId: string) =>
    `user ${userId} is the last active IAM_OWNER: grant the role to another user with \`identity member add\`, or add --force`,
  example: ['310716089541329'],
  when: 'Every other IAM_OWNER is locked, suspended or inactive, so that nobody could export or import any more. Whether one has a token is not checked.',
});

export const stateUnsuitable = defineError('FAILED_PRECONDITION', 'USER_STATE_UNSUITABLE', {
  text: (userId: string, state: string, change: string) => `cannot ${change} user ${userId}, whose state is ${state}`,
  example: ['310716089541329', 'USER_STATE_INACTIVE', 'lock'],
  when: 'Only active and initial users can be locked, and only locked users can be unlocked.',
  remedy: 'None needed to suspend tokens: those of inactive and suspended users are suspended, too.',
});

export const otpEmailSet = defineError('ALREADY_EXISTS', 'OTP_EMAIL_ALREADY_SET', {
  id: 'COMMAND-MKL2s',
  text: 'Multifactor OTP (OneTimePassword) is already set up',
  when: 'The person has the OTP e-mail factor.',
  remedy: 'None needed.',
});

export const notInstanceFile = defineError('FAILED_PRECONDITION', 'BACKUP_INVALID', {
  text: 'the file is not an intact database of an instance: specify a file that `identity backup` has written',
  when: '`identity restore` was given another kind of database, or a damaged one.',
});

export const instanceMissing = defineError('NOT_FOUND', 'INSTANCE_MISSING', {
  text: (directory: string) => `no instance in ${directory}: create one with identity init`,
  example: ['./north'],
  when: '`--data` names a directory without an instance. Only `identity init` and `identity restore` create one.',
  remedy: 'Correct `--data`, or create the instance with `identity init`.',
});

export const instanceReplaced = defineError('ABORTED', 'INSTANCE_REPLACED', {
  text: (file: string) => `${file} was moved or replaced: start the command again`,
  example: ['/data/identity.sqlite'],
  when: 'The database that `identity audit --follow` has opened is no longer the one in the directory.',
  remedy: 'Start the command again, with the cursor of the last event.',
});

export const instanceExists = defineError('ALREADY_EXISTS', 'INSTANCE_EXISTS', {
  text: (content: string, directory: string) => `there is ${content} in ${directory}: restore into another directory`,
  example: ['an instance', './north'],
  when: 'The directory of `identity restore` contains files of an instance.',
});

export const fileExists = defineError('ALREADY_EXISTS', 'BACKUP_EXISTS', {
  text: (file: string) => `${file} exists: choose another name`,
  example: ['/backups/north.backup'],
  when: '`identity backup` was given the name of a file that exists.',
  remedy: 'Choose another name, or move the file.',
});

export const backupKeyMissing = defineError('FAILED_PRECONDITION', 'BACKUP_KEY_MISSING', {
  text: (file: string) =>
    `the secrets in ${file} are encrypted, and a backup has no master key: name a copy of the instance's master.key by --key FILE`,
  example: ['north.backup'],
  when: '`identity restore` has neither `--key` nor `IDENTITY_MASTER_KEY`, and the directory has no `master.key`.',
  remedy: 'Name the copy of `master.key`. Without the key, only a backup whose key you have can be read.',
});

export const portInUse = defineError('FAILED_PRECONDITION', 'PORT_IN_USE', {
  text: (port: number, setting: string) =>
    `port ${port} is in use: stop the program that listens there, or choose another port with ${setting} (0 picks a free one)`,
  example: [8080, '--port'],
  when: 'Another program listens on the port of `identity serve`, or on that of its metrics.',
});

export const portForbidden = defineError('FAILED_PRECONDITION', 'PORT_FORBIDDEN', {
  text: (port: number, setting: string) =>
    `no permission to listen on port ${port}: choose one above 1023 with ${setting}, and let a proxy listen there`,
  example: [80, '--port'],
  when: 'The operating system reserves low ports for the superuser.',
});

export const hostNeedsProxy = defineError('FAILED_PRECONDITION', 'HOST_NEEDS_PROXY', {
  text: (host: string) =>
    `other machines reach ${host}: put a proxy with TLS in front, such as Caddy with hosting/Caddyfile, and set TRUSTED_PROXIES=1`,
  example: ['0.0.0.0'],
  when: '`identity serve --host` names an address that other machines can reach, and `TRUSTED_PROXIES` is not set. The service speaks no TLS and does not limit single clients; a proxy does.',
  remedy:
    'Listen on 127.0.0.1, with the proxy on the same machine, or set `TRUSTED_PROXIES` if only a proxy reaches the address.',
});

export const hostUnknown = defineError('FAILED_PRECONDITION', 'HOST_UNKNOWN', {
  text: (host: string) => `this machine has no address ${host}: choose one that it has with --host, such as 127.0.0.1`,
  example: ['192.0.2.1'],
  when: '`identity serve --host` names an address of another machine, or a name without an address.',
  remedy: 'Choose an address of this machine: 127.0.0.1 for local clients, 0.0.0.0 for all networks.',
});
