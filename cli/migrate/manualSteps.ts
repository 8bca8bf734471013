import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { total } from '../../shared/collections/counts.ts';
import { shellWord } from '../../shared/shellWord.ts';
import { isMigrationUser } from '../accounts/serviceUsers.ts';
import type { ImportResponse } from '../exports/importResponse.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { tokenFileOf } from '../places/placeOptions.ts';
import { callText } from '../terminal/callTexts.ts';
import { counted, named, numberText } from '../terminal/numberTexts.ts';
import type { MigrationRun, StagedExport } from './migrationRun.ts';
import type { ManualStep, MigrationResult } from './migrationTypes.ts';
import { isFilePlace, type MigrationSettings } from './settings.ts';

/** The ids of the users to whom the tokens for source and target belong, if known. */
export interface Callers {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export async function listManualSteps(
  { settings, exported }: Pick<MigrationRun, 'settings'> & { readonly exported: Pick<StagedExport, 'movedExporterId'> },
  described: PlannedSides,
  callers: Callers,
): Promise<ManualStep[]> {
  const files = [...new Set(Object.values(settings.secretFiles))].filter((file) => file !== undefined);
  return [
    ...movedUser(exported.movedExporterId, settings.to),
    ...sourceObject(settings.from),
    ...(await Promise.all(tokenUsers(settings, described, callers).map(tokenUserSteps))).flat(),
    ...files
      .filter((file) => existsSync(file))
      .map((file) => ({
        what: `delete ${file}, unless you still need the secret in it`,
        command: `rm ${shellWord(file)}`,
      })),
  ];
}

/** Facts that show which of the migrated organisations this run has created. */
interface SeenOrganisations {
  /** The created organisations that the response lists. It lists at most 10,000. */
  readonly created: readonly string[];
  readonly createdCount: number;
  /**
   * The migrated organisations that the target had before the run (`before`), and that it has after the run (`after`).
   */
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
}

/** The maximum number of organisations in one manual step. The step contains one `org delete` command. */
const DELETED_AT_ONCE = 50;

/** Lists the steps that undo a migration. A step deletes an organisation only if this run has certainly created it. */
export function listTakeBack(
  { place, kind }: Pick<MigrationResult['target'], 'place' | 'kind'>,
  { created, createdCount, before, after, names }: SeenOrganisations,
): ManualStep[] {
  if (kind === 'file' || kind === 'object') return [];
  const sorted = created.toSorted();
  const chunks = Array.from({ length: Math.ceil(sorted.length / DELETED_AT_ONCE) }, (_, index) =>
    sorted.slice(index * DELETED_AT_ONCE, (index + 1) * DELETED_AT_ONCE),
  );
  const createdIds = new Set(created);
  // The organisations that the target has only since this run, but that the response does not list as created. Rejected
  // organisations are not among them, because they are not in `after`.
  const unseen = after.difference(before).difference(createdIds);
  const doubt =
    createdCount > created.length
      ? `${place} lists only ${numberText(created.length)} of the ${counted(createdCount, 'organisation')} that this run created`
      : 'the command cannot determine whether this run created the organisation';
  return [
    ...chunks.map((orgIds) => {
      const organisations = `${counted(orgIds.length, 'organisation')} that this run created`;
      if (kind !== 'zitadel')
        return {
          what: `delete ${organisations} in ${place}, with all records`,
          command: instanceDeletion(orgIds, place),
        };
      // For ZITADEL, the step has no command, because the user can delete organisations in ZITADEL's console.
      const listed = orgIds.map((orgId) => named(orgId, names.get(orgId))).join(', ');
      const what = `in the console of ${place}, delete ${organisations}, with all records, which can never return there: ${listed}`;
      return { what };
    }),
    ...[...before.difference(createdIds)].map((orgId) => ({
      what: `${named(orgId, names.get(orgId))} existed when this run began: delete it only if an earlier, interrupted run created it`,
    })),
    ...[...unseen].map((orgId) => ({
      what: `${named(orgId, names.get(orgId))} did not exist when this run began; ${doubt}`,
    })),
  ];
}

export function restoreDeleted(
  { place }: Pick<MigrationResult['target'], 'place'>,
  response: ImportResponse | undefined,
): ManualStep[] {
  const records = total(response?.summary.deleted ?? {});
  if (records === 0) return [];
  const what = `this run deleted ${counted(records, 'record')} in ${place}: to restore them, use an export or a backup made before this run`;
  return [{ what }];
}

/**
 * If the source is an object in Cloud Storage, returns the step that deletes this object, because the object can
 * contain secrets.
 */
function sourceObject(from: string): ManualStep[] {
  if (parsePlace(from).kind !== 'object') return [];
  const what = `delete the object ${from}, if you created the object for the migration`;
  return [{ what, command: `gcloud storage rm ${shellWord(from)}` }];
}

/**
 * Lists a step for each organisation that only the target has, if evidence shows that the organisation came from the
 * source. The step deletes the organisation.
 */
export function listOrganisationDeletions(
  { to, secretFiles }: MigrationSettings,
  { proof, target }: Pick<MigrationResult, 'proof' | 'target'>,
): ManualStep[] {
  const tokenFile = tokenFileOf(secretFiles, 'to');
  return proof.differences.flatMap(({ orgId, orgName, evidence }) => {
    if (evidence === undefined) return [];
    const what = `in ${to}, delete organisation ${named(orgId, orgName)} with all its records, unless you need the organisation (${evidence})`;
    return [{ what, command: deletionCommand(orgId, { place: to, kind: target.kind, file: tokenFile }) }];
  });
}

function deletionCommand(orgId: string, { place, kind, file }: Pick<TokenUser, 'place' | 'kind' | 'file'>): string {
  if (kind === 'zitadel') {
    const context = `--header ${shellWord(`x-zitadel-orgid: ${orgId}`)}`;
    return zitadelDeletion(file ?? 'FILE', `${context} ${shellWord(`${place}/management/v1/orgs/me`)}`);
  }
  return instanceDeletion([orgId], place);
}

/** Returns the command that deletes the organisations. It needs access to the instance's database. */
function instanceDeletion(orgIds: readonly string[], place: string): string {
  const parsed = parsePlace(place);
  const isFirestore = parsed.kind === 'database' && parsed.firestore !== undefined;
  const database = parsed.kind === 'database' ? (parsed.firestore ?? parsed.data) : undefined;
  const option = isFirestore ? 'firestore' : 'data';
  const words = orgIds.map(shellWord).join(' ');
  return callText(`org delete ${words} --${option} ${database === undefined ? 'DIR' : shellWord(database)}`);
}

/**
 * Returns a shell command that sends a DELETE request to ZITADEL. The command passes the token to curl as input,
 * because other users of the machine can read the arguments of a process.
 */
function zitadelDeletion(tokenFile: string, target: string): string {
  const header = `sed 's/^/Authorization: Bearer /' ${shellWord(tokenFile)}`;
  return `${header} | curl --fail --request DELETE --header @- ${target}`;
}

type PlannedSides = Pick<MigrationResult, 'source' | 'target'>;

interface TokenUser {
  readonly place: string;
  readonly kind: string;
  readonly userId: string | undefined;
  readonly file: string | undefined;
  readonly roles: readonly string[];
}

function tokenUsers(
  { from, to, secretFiles }: MigrationSettings,
  { source, target }: PlannedSides,
  callers: Callers,
): TokenUser[] {
  const file = (side: 'from' | 'to') => tokenFileOf(secretFiles, side);
  return [
    { place: from, kind: source.kind, userId: callers.from, file: file('from'), roles: source.roles ?? [] },
    { place: to, kind: target.kind, userId: callers.to, file: file('to'), roles: target.roles ?? [] },
  ];
}

async function tokenUserSteps(account: TokenUser): Promise<ManualStep[]> {
  const { place, kind, file } = account;
  const deletion = userDeletion(account);
  if (deletion !== undefined) return [deletion];
  if (kind !== 'instance') return [];
  const token = file !== undefined && existsSync(file) ? (await readFile(file, 'utf8')).trim() : '';
  if (!isWellFormed(token)) return [];
  const what = `if you created the token for ${place} for the migration, revoke the token on the machine with the database of ${place}`;
  return [{ what, command: callText(`pat revoke ${tokenId(token)} --data DIR`) }];
}

function movedUser(userId: string | undefined, to: string): ManualStep[] {
  if (userId === undefined || isFilePlace(to)) return [];
  return [{ what: `in ${to}, delete the user ${userId}, if you created this user only to export the source` }];
}

function userDeletion(account: TokenUser): ManualStep | undefined {
  const { place, kind, userId } = account;
  if (kind === 'zitadel') return zitadelUserDeletion(account);
  if (userId === undefined || !isMigrationUser(userId) || kind !== 'instance') return undefined;
  return {
    what: `delete the service user that \`identity migrate prepare\` created on ${place}; run the command on the machine with the database of ${place}`,
    command: callText(`service-user delete ${userId} --data DIR`),
  };
}

/**
 * Returns the step that deletes the token's user in ZITADEL. The step has a command only if the user has the role
 * IAM_OWNER, because other users may not delete themselves.
 */
function zitadelUserDeletion({ place, userId, file, roles }: TokenUser): ManualStep {
  const otherwise = 'if you created the user for the migration; otherwise delete only the token, in the console';
  if (userId === undefined || file === undefined || !existsSync(file) || !roles.includes('IAM_OWNER'))
    return { what: `in the console of ${place}, delete the user ${userId ?? 'of the token'} ${otherwise}` };
  const url = shellWord(`${place}/v2/users/${encodeURIComponent(userId)}`);
  return { what: `delete the user ${userId} of ${place} ${otherwise}`, command: zitadelDeletion(file, url) };
}
