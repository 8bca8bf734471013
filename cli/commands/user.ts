import { defineInstanceCommand, flag, optional, required } from '../command.ts';
import { toList } from '../output.ts';

const user = required('USER_ID', 'the person or service user');

export const userList = defineInstanceCommand({
  name: 'user list',
  summary: 'list people and service users: id, organisation, kind, state and user name',
  instance: 'existing',
  arguments: [],
  options: { org: optional('ORG_ID', 'the organisation; by default all of them') },
  examples: ['user list --org 330000000000000001 --data ./north'],
  run: async ({ store, options }) => {
    const { listUsers } = await import('../../shared/accounts/listing.ts');
    return toList('users', listUsers(store, options.org), ({ userId, orgId, userName, kind, state }) => [
      userId,
      orgId,
      kind,
      state,
      userName,
    ]);
  },
});

export const userLock = defineInstanceCommand({
  name: 'user lock',
  summary: "lock a person or service user, which suspends the user's tokens",
  instance: 'existing',
  isAudited: true,
  arguments: [user],
  options: { force: flag('also the last IAM_OWNER') },
  examples: ['user lock 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], options, store, now }) => {
    const { changeLock } = await import('../../shared/accounts/userLocks.ts');
    await changeLock(store, userId, 'lock', now, options.force);
    return { json: { userId }, text: `${userId} is locked` };
  },
});

export const userUnlock = defineInstanceCommand({
  name: 'user unlock',
  summary: 'unlock a person or service user',
  instance: 'existing',
  isAudited: true,
  arguments: [user],
  options: {},
  examples: ['user unlock 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], store, now }) => {
    const { changeLock } = await import('../../shared/accounts/userLocks.ts');
    await changeLock(store, userId, 'unlock', now, false);
    return { json: { userId }, text: `${userId} is unlocked` };
  },
});

export const otpEmailEnable = defineInstanceCommand({
  name: 'otp-email enable',
  summary: 'enable the OTP e-mail factor of a person',
  instance: 'existing',
  isAudited: true,
  arguments: [required('USER_ID', 'the person')],
  options: {},
  examples: ['otp-email enable 330000000000000201 --data ./north'],
  run: async ({ arguments: [userId], store, now }) => {
    const { enableOtpEmail } = await import('../../shared/accounts/users.ts');
    const sequence = await enableOtpEmail(store, userId, now);
    return { json: { userId, sequence: String(sequence) }, text: `${userId} now has the OTP e-mail factor` };
  },
});
