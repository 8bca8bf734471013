// Errors of the `identity` command that concern a single instance: its accounts, files and ports.

import { defineError } from './identityError.ts';

export const usageInvalid = defineError('INVALID_ARGUMENT', 'USAGE_INVALID', { text: '{problem}' });

/** The parameter `interruption` includes the command with which the user can continue. */
export const commandInterrupted = defineError('CANCELLED', 'COMMAND_INTERRUPTED', { text: '{interruption}' });

// `problems` contains one line for each problem.
export const configurationInvalid = defineError('INVALID_ARGUMENT', 'CONFIGURATION_INVALID', { text: '{problems}' });

export const reportMissing = defineError('FAILED_PRECONDITION', 'REPORT_MISSING', {
  text: 'the report {file} could not be written ({reason}): {done}',
});

export const instanceInitialised = defineError('FAILED_PRECONDITION', 'INSTANCE_ALREADY_INITIALISED', {
  text: 'the instance is already initialised: create further tokens with `identity pat create`',
});

export const tokenFileUnusable = defineError('INVALID_ARGUMENT', 'TOKEN_FILE_UNUSABLE', {
  text: '{file} {problem}: specify a new file for the token',
});

export const fileNotOwn = defineError('PERMISSION_DENIED', 'FILE_NOT_OWN', {
  text: '{problem}',
});

export const userUnknown = defineError('NOT_FOUND', 'USER_UNKNOWN', {
  text: 'user {userId} not found: check the id, and check that --data or --firestore selects the right instance',
});

export const tokenUnknown = defineError('NOT_FOUND', 'TOKEN_UNKNOWN', {
  text: 'token {tokenId} not found: run `identity pat list` to see the tokens of a user',
});

export const organisationUnknown = defineError('NOT_FOUND', 'ORGANISATION_UNKNOWN', {
  text: 'organisation {orgId} not found: check the id, and check that --data or --firestore selects the right instance',
});

export const confirmationOutdated = defineError('ABORTED', 'CONFIRMATION_OUTDATED', {
  text: 'nothing is deleted, because {added} after you were asked to confirm: repeat the command',
});

export const defaultOrganisationKept = defineError('FAILED_PRECONDITION', 'DEFAULT_ORGANISATION_UNDELETABLE', {
  text: 'organisation {orgId} is the default organisation, which cannot be deleted: omit this organisation',
});

export const notServiceUser = defineError('FAILED_PRECONDITION', 'NOT_A_SERVICE_USER', {
  text: 'user {userId} is a person: specify a service user',
});

export const userNameTaken = defineError('ALREADY_EXISTS', 'USER_NAME_TAKEN', {
  text: 'user name {name} is already in use: choose another name',
});

export const nameInvalid = defineError('INVALID_ARGUMENT', 'NAME_INVALID', {
  text: 'invalid name: {problem}',
});

export const roleUnknown = defineError('INVALID_ARGUMENT', 'ROLE_UNKNOWN', {
  text: 'invalid role {role} for {place}: choose one of {fitting}',
});

export const roleNotHeld = defineError('NOT_FOUND', 'ROLE_NOT_HELD', {
  text: 'user {userId} does not hold the role {role}: check the role, and whether --org is needed',
});

export const userGrantUnknown = defineError('NOT_FOUND', 'USER_GRANT_UNKNOWN', {
  text: 'user {userId} has no grant for project {projectId}: run `identity user-grant list` to see the grants of a user',
});

export const rolesIncompatible = defineError('FAILED_PRECONDITION', 'ROLES_INCOMPATIBLE', {
  text: 'user {userId} cannot have both {role} and {held}: remove one of the roles',
});

export const memberInvalid = defineError('INVALID_ARGUMENT', 'MEMBER_INVALID', {
  text: 'user {userId} cannot be a member of an organisation: {problem}; give the role to another user',
});

export const lastOwner = defineError('FAILED_PRECONDITION', 'LAST_OWNER', {
  text: 'user {userId} is the last active IAM_OWNER: grant the role to another user with `identity member add`, or repeat the command with --force',
});

export const stateUnsuitable = defineError('FAILED_PRECONDITION', 'USER_STATE_UNSUITABLE', {
  text: 'cannot {change} user {userId}, whose state is {state}: only users in the state active or initial can be locked, and only locked users can be unlocked',
});

export const otpEmailSet = defineError('ALREADY_EXISTS', 'OTP_EMAIL_ALREADY_SET', {
  id: 'COMMAND-MKL2s',
  text: 'Multifactor OTP (OneTimePassword) is already set up',
});

export const notInstanceFile = defineError('FAILED_PRECONDITION', 'BACKUP_INVALID', {
  text: 'the file is not an intact database of an instance: specify a file that `identity backup` has written',
});

export const instanceMissing = defineError('NOT_FOUND', 'INSTANCE_MISSING', {
  text: 'no instance in {directory}: check the path, or create an instance with `identity init`',
});

export const instanceServed = defineError('FAILED_PRECONDITION', 'INSTANCE_SERVED', {
  text: '{holder} already serves the instance in {directory}: use that server, or stop it first; commands other than `identity serve` can run at the same time',
});

export const instanceReplaced = defineError('ABORTED', 'INSTANCE_REPLACED', {
  text: '{file} was moved or replaced: start the command again',
});

export const instanceExists = defineError('ALREADY_EXISTS', 'INSTANCE_EXISTS', {
  text: '{directory} contains {content}: restore into another directory',
});

export const fileExists = defineError('ALREADY_EXISTS', 'BACKUP_EXISTS', {
  text: '{file} exists: choose another name',
});

export const backupKeyMissing = defineError('FAILED_PRECONDITION', 'BACKUP_KEY_MISSING', {
  text: "the secrets in {file} are encrypted, and a backup has no master key: specify a copy of the instance's master.key with --key FILE",
});

export const portInUse = defineError('FAILED_PRECONDITION', 'PORT_IN_USE', {
  text: 'port {port} is in use: stop the program that listens there, or choose another port with {setting} (0 selects a free port)',
});

export const portForbidden = defineError('FAILED_PRECONDITION', 'PORT_FORBIDDEN', {
  text: 'no permission to listen on port {port}: choose a port above 1023 with {setting}, and let a proxy listen there',
});

export const hostNeedsProxy = defineError('FAILED_PRECONDITION', 'HOST_NEEDS_PROXY', {
  text: 'other machines can reach {host}: put a TLS proxy in front of this server, such as Caddy with hosting/Caddyfile, and set TRUSTED_PROXIES=1',
});

export const hostUnknown = defineError('FAILED_PRECONDITION', 'HOST_UNKNOWN', {
  text: 'this machine has no address {host}: choose one of its addresses with --host, such as 127.0.0.1',
});
