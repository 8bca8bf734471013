import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isMigrationUser } from '../../shared/accounts/serviceUsers.ts';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { commandLine, type Line, section } from '../terminal.ts';
import type { MigrationPlan } from './documents.ts';
import type { MigrationState } from './run.ts';
import { isFile } from './settings.ts';

/** Something that only a person can do after a migration. */
export interface ManualStep {
  readonly what: string;
  readonly command?: string;
}

/** Returns the lines that list steps, each with its command. */
export function manualSection(steps: readonly ManualStep[]): Line[] {
  const lines = steps.flatMap(({ what, command }) =>
    command === undefined ? [what] : [`${what}:`, commandLine(command)],
  );
  return section('By hand', lines);
}

/** Lists what only a person can do after a migration: about its users, and the files of its tokens and keys. */
export async function listManualSteps(
  { settings, callers = {}, exported }: MigrationState,
  { source, target }: Pick<MigrationPlan, 'source' | 'target'>,
): Promise<ManualStep[]> {
  const { from, to, secretFiles } = settings;
  const tokenFile = (side: 'from' | 'to') => secretFiles[`${side}-token-file`] ?? secretFiles['token-file'];
  const sides = [
    { place: from, kind: source.kind, userId: callers.from, file: tokenFile('from') },
    { place: to, kind: target.kind, userId: callers.to, file: tokenFile('to') },
  ];
  const files = [...new Set(Object.values(secretFiles))].filter((file) => existsSync(file));
  return [
    ...movedUser(exported?.exportedBy, to),
    ...(await Promise.all(sides.map(accountSteps))).flat(),
    ...files.map((file) => ({
      what: `delete ${file}, unless something else needs the secret in it`,
      command: `rm ${shellWord(file)}`,
    })),
  ];
}

interface Account {
  readonly place: string;
  readonly kind: string;
  readonly userId: string | undefined;
  readonly file: string | undefined;
}

async function accountSteps({ place, kind, userId, file }: Account): Promise<ManualStep[]> {
  if (kind === 'zitadel')
    return [
      {
        what: `delete the user ${userId ?? 'of the token'} in the console of ${place}, if it was created for the migration; otherwise only its token`,
      },
    ];
  if (kind !== 'instance') return [];
  const prepared = preparedUser(place, userId);
  if (prepared !== undefined) return [prepared];
  const token = file !== undefined && existsSync(file) ? (await readFile(file, 'utf8')).trim() : '';
  if (!isWellFormed(token)) return [];
  const what = `revoke the token for ${place} if it was created for the migration, with the database of that instance`;
  return [{ what, command: `identity pat revoke ${tokenId(token)} --data DIR` }];
}

/** The service user of the source, which has moved with its organisation. */
function movedUser(userId: string | undefined, to: string): ManualStep[] {
  if (userId === undefined || isFile(to)) return [];
  return [{ what: `delete the user ${userId}, who exported the source, in ${to} if it served the export only` }];
}

/** Lists the service users of `identity migrate prepare`, which the command cannot delete over HTTPS. */
export function preparedUsers({ settings: { from, to }, callers = {} }: MigrationState): ManualStep[] {
  return [preparedUser(from, callers.from), preparedUser(to, callers.to)].filter((step) => step !== undefined);
}

function preparedUser(place: string, userId: string | undefined): ManualStep | undefined {
  if (userId === undefined || !isMigrationUser(userId) || parsePlace(place).kind !== 'instance') return undefined;
  return {
    what: `delete the service user of identity migrate prepare on ${place}, with the database of that instance`,
    command: `identity service-user delete ${userId} --data DIR`,
  };
}
