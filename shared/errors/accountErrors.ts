import { defineError } from './identityError.ts';

// Errors of the `identity` command's account operations. They appear on standard error, not in HTTP responses.

export const instanceInitialised = defineError({
  code: 'FAILED_PRECONDITION',
  text: 'the instance is already initialised: create further tokens with `identity pat create`',
  when: '`identity init` ran before on this instance.',
  remedy: "Create a token for the instance's service user with `identity pat create`.",
});

export const userUnknown = defineError({
  code: 'NOT_FOUND',
  text: (userId: string) => `user ${userId} not found`,
  example: ['310716089541329'],
  when: 'No user has the id, the user is deleted, or `otp-email enable` was given a service user.',
  remedy: 'Check the id, and that `--data` or `--firestore` names the right instance.',
});

export const tokenUnknown = defineError({
  code: 'NOT_FOUND',
  text: (tokenId: string) => `token ${tokenId} not found`,
  example: ['6f1ed002ab5595859014ebf0951522d9'],
  when: 'No token has the id: it may be revoked already.',
  remedy: 'List the tokens of a user with `identity pat list`.',
});

export const organisationUnknown = defineError({
  code: 'NOT_FOUND',
  text: (orgId: string) => `organisation ${orgId} not found`,
  example: ['310716089541007'],
  when: 'No organisation has the id.',
  remedy: 'Check the id, and that `--data` or `--firestore` names the right instance.',
});

export const defaultOrganisationKept = defineError({
  code: 'FAILED_PRECONDITION',
  text: (orgId: string) => `organisation ${orgId} is the default organisation, which stays: omit it`,
  example: ['310716089541007'],
  when: '`identity org delete` was given the organisation that `identity init` has created.',
  remedy: 'Omit the id.',
});

export const removalSuperseded = defineError({
  code: 'ABORTED',
  text: (orgId: string) =>
    `another call of identity org delete has removed organisation ${orgId} meanwhile: repeat the command for the others`,
  example: ['310716089541007'],
  when: 'Two calls of the command remove the same organisation at the same time.',
  remedy: 'Repeat the command with the ids that `identity org list` still shows.',
});

export const notServiceUser = defineError({
  code: 'FAILED_PRECONDITION',
  text: (userId: string) => `user ${userId} is a person: specify a service user`,
  example: ['310716089541329'],
  when: '`identity service-user` was given the id of a person.',
  remedy: 'Specify the id of a service user.',
});

export const userNameTaken = defineError({
  code: 'ALREADY_EXISTS',
  text: (name: string) => `user name ${name} is already in use: choose another one`,
  example: ['migration'],
  when: 'Another user has the name.',
  remedy: 'Choose another name.',
});

export const nameInvalid = defineError({
  code: 'INVALID_ARGUMENT',
  text: (problem: string) => `invalid name: ${problem}`,
  example: ['user.userName: value length must be at least 1 characters'],
  when: 'The name of an instance or service user breaks a rule of export files, so that no instance could import it; or it is blank, or contains control characters.',
  remedy: 'Choose another name.',
});

export const roleUnknown = defineError({
  code: 'INVALID_ARGUMENT',
  text: (role: string, place: string, fitting: readonly string[]) =>
    `invalid role ${role} for ${place}: choose one of ${fitting.join(', ')}`,
  example: ['ORG_OWNER', 'the instance', ['IAM_OWNER', 'IAM_USER_MANAGER']],
  when: 'No role has this name, or only at the other level: roles of the instance start with `IAM_`.',
  remedy: 'Choose a listed role, or change the level with `--org`.',
});

export const roleNotHeld = defineError({
  code: 'NOT_FOUND',
  text: (userId: string, role: string) => `user ${userId} does not hold the role ${role}`,
  example: ['310716089541329', 'IAM_OWNER'],
  when: 'The role to remove is not held there.',
  remedy: 'Check the role, and whether `--org` is needed.',
});

export const rolesIncompatible = defineError({
  code: 'FAILED_PRECONDITION',
  text: (userId: string, role: string, held: readonly string[]) =>
    `user ${userId} cannot have both ${role} and ${held.join(', ')}: remove one of them`,
  example: ['310716089541329', 'SELF_MANAGEMENT_GLOBAL', ['ORG_OWNER']],
  when: 'A member of an organisation holds either `SELF_MANAGEMENT_GLOBAL` or other roles. No instance could import both.',
  remedy: 'Remove the other roles first.',
});

export const lastOwner = defineError({
  code: 'FAILED_PRECONDITION',
  text: (userId: string) =>
    `user ${userId} is the last IAM_OWNER with valid tokens: grant the role to another user with \`identity member add\`, or add --force`,
  example: ['310716089541329'],
  when: 'Without this user, nobody could export or import any more.',
  remedy: 'Make another user IAM_OWNER first, or repeat the command with `--force`.',
});

export const stateUnsuitable = defineError({
  code: 'FAILED_PRECONDITION',
  text: (userId: string, state: string, change: string) => `cannot ${change} user ${userId}, whose state is ${state}`,
  example: ['310716089541329', 'USER_STATE_INACTIVE', 'lock'],
  when: 'Only active and initial users can be locked, and only locked users can be unlocked.',
  remedy: 'None needed to suspend tokens: those of inactive and suspended users are suspended, too.',
});

export const otpEmailSet = defineError({
  code: 'ALREADY_EXISTS',
  id: 'COMMAND-MKL2s',
  text: 'Multifactor OTP (OneTimePassword) is already set up',
  when: 'The person has the OTP e-mail factor.',
  remedy: 'None needed.',
});

export const notInstanceFile = defineError({
  code: 'FAILED_PRECONDITION',
  text: 'the file is not an intact database of an instance: specify a file that `identity backup` has written',
  when: '`identity restore` was given another kind of database, or a damaged one.',
  remedy: 'Specify a file that `identity backup` has written.',
});
