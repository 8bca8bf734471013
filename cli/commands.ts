import type { Command } from './command.ts';
import { instanceCommands } from './tables/instances.ts';
import { migrationCommands } from './tables/migrations.ts';
import { placeCommands } from './tables/places.ts';
import { rightCommands } from './tables/rights.ts';
import { shellCommands } from './tables/shell.ts';
import { userCommands } from './tables/users.ts';

/** The commands under one heading of the help. */
interface CommandTable {
  readonly title: string;
  readonly commands: readonly Command[];
}

/** The tables of all commands, in the order of the help. */
export const commandTables: readonly CommandTable[] = [
  { title: 'Instances', commands: instanceCommands },
  { title: 'Migrations', commands: migrationCommands },
  { title: 'Places', commands: placeCommands },
  { title: 'Tokens and roles', commands: rightCommands },
  { title: 'Organisations and users', commands: userCommands },
  { title: 'Shells', commands: shellCommands },
];

/** All commands of `identity`. */
export const commands: readonly Command[] = commandTables.flatMap((table) => table.commands);

/** What the commands with a common first word are about. */
export const families: Readonly<Record<string, string>> = {
  member: 'manage who holds which roles',
  org: 'manage organisations',
  'otp-email': 'manage the OTP e-mail factor',
  pat: 'manage personal access tokens',
  'service-user': 'manage service users',
  user: 'manage people and service users',
};
