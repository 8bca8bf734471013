import { operations } from '../shared/auth/tokenOperations.ts';
import { knownRoles } from '../shared/organisation/roles.ts';
import { shells } from './completion/shells.ts';

/** The values of an argument or option: what the help says of them, and what completion offers. */
export interface ValueKind {
  /** The only values. */
  readonly choices?: readonly string[];
  /** What of the file system completion offers. */
  readonly paths?: 'files' | 'directories';
}

/** The kinds of values, by their names in the help. `cli/checkValues.ts` checks each kind. */
export const valueKinds = {
  CONFLICT: { choices: ['report', 'skip', 'overwrite'] },
  COUNT: {},
  DIR: { paths: 'directories' },
  DURATION: {},
  FILE: { paths: 'files' },
  HOST: {},
  NAME: {},
  OPERATION: { choices: operations },
  ORG_ID: {},
  PLACE: { paths: 'files' },
  PORT: {},
  'PROJECT[/DATABASE]': {},
  ROLE: { choices: [...knownRoles('instance'), ...knownRoles('organisation')] },
  SECRETS: {},
  SHELL: { choices: shells },
  TOKEN_ID: {},
  USER_ID: {},
} as const satisfies Readonly<Record<string, ValueKind>>;

/** The name of a kind of values. */
export type ValueName = keyof typeof valueKinds;

/** Returns a kind of values by its name. */
export function valueKind(name: ValueName): ValueKind {
  return valueKinds[name];
}
