// The list of all commands.

import type { Command } from './command.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand, restoreCommand } from './commands/backups.ts';
import { compareCommand } from './commands/compare.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { initCommand } from './commands/init.ts';
import { inspectCommand } from './commands/inspect.ts';
import { memberAddCommand, memberListCommand, memberRemoveCommand } from './commands/member.ts';
import { migrateCommand } from './commands/migrate.ts';
import { orgDeleteCommand, orgListCommand } from './commands/org.ts';
import { otpEmailEnableCommand, otpEmailRemoveCommand } from './commands/otpEmail.ts';
import { patCreateCommand, patListCommand, patRevokeCommand } from './commands/pat.ts';
import { migratePrepareCommand } from './commands/prepare.ts';
import { rekeyCommand } from './commands/rekey.ts';
import { serveCommand } from './commands/serve.ts';
import {
  serviceUserCreateCommand,
  serviceUserDeleteCommand,
  userListCommand,
  userLockCommand,
  userUnlockCommand,
} from './commands/user.ts';

/** The descriptions of families, the commands with a common first word. */
export const families: Readonly<Record<string, string>> = {
  member: 'manage roles of users',
  org: 'manage organisations',
  'otp-email': 'manage the OTP e-mail factor',
  pat: 'manage personal access tokens',
  'service-user': 'manage service users',
  user: 'manage people and service users',
};

/** All commands of `identity`, in the order of the help. Definitions are light: each loads its modules when it runs. */
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
  serviceUserCreateCommand,
  serviceUserDeleteCommand,
  patCreateCommand,
  patListCommand,
  patRevokeCommand,
  memberAddCommand,
  memberRemoveCommand,
  memberListCommand,
  orgListCommand,
  orgDeleteCommand,
];
