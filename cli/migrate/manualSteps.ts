// Manual steps after a migration.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isMigrationUser } from '../../shared/accounts/serviceUsers.ts';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { named } from '../numberTexts.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { commandLine, type Line, section } from '../terminal.ts';
import type { MigrationPlan, MigrationResult } from './migrationDocuments.ts';
import type { MigrationState } from './migrationRun.ts';
import { isFilePlace } from './settings.ts';

/** A manual step after a migration. */
export interface ManualStep {
  readonly what: string;
  readonly command?: string;
}

/** Returns the lines of manual steps, each with its command. */
export function manualSection(steps: readonly ManualStep[]): Line[] {
  const lines = steps.flatMap(({ what, command }) =>
    command === undefined ? [what] : [`${what}:`, commandLine(command)],
  );
  return section('By hand', lines);
}

/** Lists the manual steps after a migration: users to delete, and files of tokens and keys. */
export async function listManualSteps(state: MigrationState, described: PlannedSides): Promise<ManualStep[]> {
  const { settings, exported } = state;
  const files = [...new Set(Object.values(settings.secretFiles))].filter((file) => existsSync(file));
  return [
    ...movedUser(exported?.exportedBy, settings.to),
    ...(await Promise.all(tokenUsers(state, described).map(tokenUserSteps))).flat(),
    ...files.map((file) => ({
      what: `delete ${file}, unless something else needs the secret in it`,
      command: `rm ${shellWord(file)}`,
    })),
  ];
}

/** Lists the organisations to delete in the target: those from the source that the source does not have any more. */
export function listOrganisationDeletions({ settings }: MigrationState, result: MigrationResult): ManualStep[] {
  const { to, secretFiles } = settings;
  const tokenFile = secretFiles['to-token-file'] ?? secretFiles['token-file'];
  return result.proof.differences.flatMap(({ orgId, orgName, evidence }) => {
    if (evidence === undefined) return [];
    const what = `delete organisation ${named(orgId, orgName)} in ${to} with all its records, unless it is needed there (${evidence})`;
    return [{ what, command: deletionCommand(orgId, { place: to, kind: result.target.kind, file: tokenFile }) }];
  });
}

function deletionCommand(orgId: string, { place, kind, file }: Pick<TokenUser, 'place' | 'kind' | 'file'>): string {
  if (kind === 'zitadel') {
    const context = `--header ${shellWord(`x-zitadel-orgid: ${orgId}`)}`;
    return zitadelDeletion(file ?? 'FILE', `${context} ${shellWord(`${place}/management/v1/orgs/me`)}`);
  }
  const parsed = parsePlace(place);
  const isFirestore = parsed.kind === 'database' && parsed.firestore !== undefined;
  const database = parsed.kind === 'database' ? (parsed.firestore ?? parsed.data) : undefined;
  const option = isFirestore ? 'firestore' : 'data';
  return `identity org delete ${shellWord(orgId)} --${option} ${database === undefined ? 'DIR' : shellWord(database)}`;
}

/** Returns the command of a DELETE request. Other users can read the arguments of a process, but not its input. */
function zitadelDeletion(tokenFile: string, target: string): string {
  const header = `sed 's/^/Authorization: Bearer /' ${shellWord(tokenFile)}`;
  return `${header} | curl --fail --request DELETE --header @- ${target}`;
}

/** The described sides of a migration. */
type PlannedSides = Pick<MigrationPlan, 'source' | 'target'>;

interface TokenUser {
  readonly place: string;
  readonly kind: string;
  readonly userId: string | undefined;
  readonly file: string | undefined;
  readonly roles: readonly string[];
}

/** Returns the users of a migration's tokens, one per side. */
function tokenUsers({ settings, callers }: MigrationState, { source, target }: PlannedSides): TokenUser[] {
  const { from, to, secretFiles } = settings;
  const tokenFile = (side: 'from' | 'to') => secretFiles[`${side}-token-file`] ?? secretFiles['token-file'];
  return [
    { place: from, kind: source.kind, userId: callers.from, file: tokenFile('from'), roles: source.roles ?? [] },
    { place: to, kind: target.kind, userId: callers.to, file: tokenFile('to'), roles: target.roles ?? [] },
  ];
}

async function tokenUserSteps(account: TokenUser): Promise<ManualStep[]> {
  const { place, kind, file } = account;
  const deletion = userDeletion(account);
  if (deletion !== undefined) return [deletion];
  if (kind !== 'instance') return [];
  const token = file !== undefined && existsSync(file) ? (await readFile(file, 'utf8')).trim() : '';
  if (!isWellFormed(token)) return [];
  const what = `revoke the token for ${place} if it was created for the migration, with the database of that instance`;
  return [{ what, command: `identity pat revoke ${tokenId(token)} --data DIR` }];
}

/** Returns the step for the exporting user if it moved with its organisation. */
function movedUser(userId: string | undefined, to: string): ManualStep[] {
  if (userId === undefined || isFilePlace(to)) return [];
  return [{ what: `delete the user ${userId}, who exported the source, in ${to} if it served the export only` }];
}

/** Lists the users to delete: those of `identity migrate prepare`, and the users of tokens for ZITADELs. */
export function listUserDeletions(state: MigrationState, described: PlannedSides): ManualStep[] {
  return tokenUsers(state, described).flatMap((account) => userDeletion(account) ?? []);
}

function userDeletion(account: TokenUser): ManualStep | undefined {
  const { place, kind, userId } = account;
  if (kind === 'zitadel') return zitadelUserDeletion(account);
  if (userId === undefined || !isMigrationUser(userId) || kind !== 'instance') return undefined;
  return {
    what: `delete the service user of identity migrate prepare on ${place}, with the database of that instance`,
    command: `identity service-user delete ${userId} --data DIR`,
  };
}

/** Returns the step for a ZITADEL, where only an IAM_OWNER may delete itself. */
function zitadelUserDeletion({ place, userId, file, roles }: TokenUser): ManualStep {
  const otherwise = 'if it was created for the migration; otherwise only its token, in the console';
  if (userId === undefined || file === undefined || !existsSync(file) || !roles.includes('IAM_OWNER'))
    return { what: `delete the user ${userId ?? 'of the token'} of ${place} in the console, ${otherwise}` };
  const url = shellWord(`${place}/v2/users/${encodeURIComponent(userId)}`);
  return { what: `delete the user ${userId} of ${place} ${otherwise}`, command: zitadelDeletion(file, url) };
}
