import type { Command } from './command.ts';
import { init } from './commands/init.ts';
import { memberAdd, memberRemove } from './commands/member.ts';
import { otpEmailEnable } from './commands/otpEmail.ts';
import { patCreate, patList, patRevoke } from './commands/pat.ts';
import { serve } from './commands/serve.ts';
import { serviceUserCreate, serviceUserDelete } from './commands/serviceUser.ts';

/** Every command of `identity`; a new one is a new entry. */
export const commands: readonly Command[] = [
  init,
  serve,
  otpEmailEnable,
  patCreate,
  patList,
  patRevoke,
  memberAdd,
  memberRemove,
  serviceUserCreate,
  serviceUserDelete,
];
