import type { Command } from './command.ts';
import { audit } from './commands/audit.ts';
import { backup, restore } from './commands/backups.ts';
import { compare } from './commands/compare.ts';
import { exportPlace } from './commands/export.ts';
import { importPlace } from './commands/import.ts';
import { init } from './commands/init.ts';
import { inspect } from './commands/inspect.ts';
import { memberAdd, memberList, memberRemove } from './commands/member.ts';
import { migrate, migrateCleanup, migratePlan, migrateReport, migrateResume } from './commands/migrate.ts';
import { orgDelete, orgList } from './commands/org.ts';
import { otpEmailEnable, otpEmailRemove } from './commands/otpEmail.ts';
import { patCreate, patList, patRevoke } from './commands/pat.ts';
import { migratePrepare } from './commands/prepare.ts';
import { rekey } from './commands/rekey.ts';
import { serve } from './commands/serve.ts';
import { serviceUserCreate, serviceUserDelete, userList, userLock, userUnlock } from './commands/user.ts';

/** What the commands with a common first word are about. */
export const families: Readonly<Record<string, string>> = {
  member: 'manage who holds which roles',
  org: 'manage organisations',
  'otp-email': 'manage the OTP e-mail factor',
  pat: 'manage personal access tokens',
  'service-user': 'manage service users',
  user: 'manage people and service users',
};

/** All commands of `identity`, in the order of the help. Their definitions are light: each loads what it needs as it runs. */
export const commands: readonly Command[] = [
  init,
  serve,
  rekey,
  backup,
  restore,
  audit,
  migrate,
  migratePrepare,
  migratePlan,
  migrateResume,
  migrateReport,
  migrateCleanup,
  exportPlace,
  importPlace,
  compare,
  inspect,
  otpEmailRemove,
  otpEmailEnable,
  userList,
  userLock,
  userUnlock,
  serviceUserCreate,
  serviceUserDelete,
  patCreate,
  patList,
  patRevoke,
  memberAdd,
  memberRemove,
  memberList,
  orgList,
  orgDelete,
];
