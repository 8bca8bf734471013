import type { Command } from '../terminal/command.ts';
import { auditCommand } from './audit.ts';
import { backupCommand, restoreCommand } from './backups.ts';
import { compareCommand } from './compare.ts';
import { exportCommand } from './export.ts';
import { importCommand } from './import.ts';
import { initCommand } from './init.ts';
import { inspectCommand } from './inspect.ts';
import { memberAddCommand, memberListCommand, memberRemoveCommand } from './member.ts';
import { migrateCommand } from './migrate.ts';
import { orgDeleteCommand, orgListCommand } from './org.ts';
import { otpEmailEnableCommand, otpEmailRemoveCommand } from './otpEmail.ts';
import { patCreateCommand, patListCommand, patRevokeCommand } from './pat.ts';
import { migratePrepareCommand } from './prepare.ts';
import { rekeyCommand } from './rekey.ts';
import { serveCommand } from './serve.ts';
import {
  serviceUserCreateCommand,
  serviceUserDeleteCommand,
  userDeleteCommand,
  userListCommand,
  userLockCommand,
  userUnlockCommand,
} from './user.ts';
import { userGrantListCommand, userGrantRemoveCommand } from './userGrant.ts';

/** Descriptions of command families. The key is the first word of the family's commands, such as `pat`. */
export const families: Readonly<Record<string, string>> = {
  member: 'manage roles of users',
  org: 'manage organisations',
  'otp-email': 'manage the OTP e-mail factor',
  pat: 'manage personal access tokens',
  'service-user': 'manage service users',
  user: 'manage people and service users',
  'user-grant': 'manage roles of users in projects',
};

/**
 * All commands of `identity`, in the order of the help. Every call loads the definitions of all commands, so a command
 * imports its other modules only when it runs.
 */
export const commands: readonly Command[] = [
  initCommand,
  serveCommand,
  rekeyCommand,
  backupCommand,
  restoreCommand,
  auditCommand,
  migrateCommand,
  migratePrepareCommand,
  exportCommand,
  importCommand,
  compareCommand,
  inspectCommand,
  otpEmailRemoveCommand,
  otpEmailEnableCommand,
  userListCommand,
  userLockCommand,
  userUnlockCommand,
  userDeleteCommand,
  serviceUserCreateCommand,
  serviceUserDeleteCommand,
  patCreateCommand,
  patListCommand,
  patRevokeCommand,
  memberAddCommand,
  memberRemoveCommand,
  memberListCommand,
  userGrantListCommand,
  userGrantRemoveCommand,
  orgListCommand,
  orgDeleteCommand,
];
