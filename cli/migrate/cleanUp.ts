import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { isMigrationUser } from '../../shared/accounts/serviceUsers.ts';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectNotFound } from '../../shared/errors/storageErrors.ts';
import { interruptible, NOTHING_CHANGED, type Output, UsageError } from '../command.ts';
import type { Place } from '../exports/place.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import { askConfirmation } from '../questions.ts';
import type { MigrationCall } from './callOptions.ts';
import { describeRun, type ExistingRun } from './chooseRun.ts';
import { readPlan } from './plan.ts';
import { type MigrationState, readState } from './run.ts';
import { lockRunDirectory, removeExport } from './runDirectory.ts';
import { replaceSecretFiles } from './settings.ts';

/** Something that a migration leaves behind on its places. */
interface Remainder {
  /** What it is, as questions and answers name it. */
  readonly what: string;
  /** How a person removes it. */
  readonly byHand: string;
  /** Why it could not be removed. */
  readonly problem?: string;
  /** Removes it; undefined where only a person can. */
  readonly remove?: (signal: AbortSignal) => Promise<void>;
}

type CleanedUp = Remainder & { readonly removed: boolean };

/** Removes what a migration leaves behind, if a person confirms. Its result stays, and nothing stays of one given up. */
export async function cleanUp(call: MigrationCall, run: ExistingRun): Promise<Output> {
  const { directory } = run;
  using _lock = await lockRunDirectory(directory);
  const stored = await readState(directory);
  const state = { ...stored, settings: replaceSecretFiles(stored.settings, call.options) };
  if (!call.options.json) call.stderr.write(`cleaning up the migration ${describeRun(run)}: ${directory}\n`);
  const remainders = await interruptible(call.signal, NOTHING_CHANGED, () => listRemainders(call, directory, state));
  const { confirmedAt, finishedAt, settings } = state;
  const isDatabase = ['instance', 'sqlite', 'firestore'].includes(parsePlace(settings.to).kind);
  if (confirmedAt !== undefined && finishedAt === undefined && isDatabase)
    remainders.push({ what: `records imported into ${settings.to}`, byHand: 'delete their organisations there' });
  const warnings = await listTokens(state);
  const giveUp = 'the migration is not finished: it cannot be resumed then';
  const removable = remainders.flatMap(({ what, remove }) => (remove === undefined ? [] : [`remove ${what}`]));
  const lines = [
    ...(state.finishedAt === undefined ? [giveUp] : []),
    ...removable,
    state.finishedAt === undefined ? `remove the run directory ${directory}` : keptText(directory, state),
    ...remainders.filter(({ remove }) => remove === undefined).map((one) => cleanedText({ ...one, removed: false })),
    ...warnings,
  ];
  const isNothing = state.finishedAt !== undefined && removable.length === 0;
  if (!isNothing && !(await askConfirmation('Clean up?', call, lines))) {
    return {
      json: { event: 'result', removed: false, remainders, warnings },
      text: [...lines, 'nothing is removed: add --yes'],
      exitStatus: () => 'unconfirmed',
    };
  }
  const interruption = 'interrupted: repeat the command to remove the rest';
  const cleaned = await interruptible(call.signal, interruption, () => removeAll(call.signal, remainders));
  return finish(directory, state, cleaned);
}

async function finish(directory: string, state: MigrationState, cleaned: readonly CleanedUp[]): Promise<Output> {
  const isDone = cleaned.every(({ problem }) => problem === undefined);
  // A finished migration keeps its evidence; and what could not be removed can be tried again, with another token.
  const isGone = isDone && state.finishedAt === undefined;
  const hadExport = await removeExport(directory);
  if (isGone) await rm(directory, { recursive: true });
  const removed = cleaned.filter((one) => one.removed);
  const warnings = await listTokens(state);
  const again = `kept: the run directory ${directory}, to try again; it holds no secrets`;
  const text = [
    ...removed.map(cleanedText),
    isGone ? `removed: the run directory ${directory}` : isDone ? keptText(directory, state) : again,
    ...cleaned.filter((one) => !one.removed).map(cleanedText),
    ...warnings,
  ];
  return {
    json: {
      event: 'result',
      removed: isDone && (isGone || hadExport || removed.length > 0),
      remainders: cleaned,
      warnings,
    },
    text,
    exitStatus: () => (isDone ? 'done' : 'listed'),
  };
}

function keptText(directory: string, { moved }: MigrationState): string {
  if (moved === undefined) return `kept: the plan in ${directory}; nothing was moved, so there is no result`;
  const report = `identity migrate report --run-dir ${directory} --to FILE.html`;
  return `kept: the result in ${directory}, without export and secrets; ${report} shows it`;
}

async function removeAll(signal: AbortSignal, remainders: readonly Remainder[]): Promise<CleanedUp[]> {
  const cleaned: CleanedUp[] = [];
  for (const one of remainders) {
    const { remove } = one;
    if (remove === undefined) cleaned.push({ ...one, removed: false });
    else {
      const { problem } = await attempt(() => remove(signal));
      cleaned.push(problem === undefined ? { ...one, removed: true } : { ...one, removed: false, problem });
    }
  }
  return cleaned;
}

/** Returns the error of a place instead of throwing it: the other remainders can be removed nevertheless. */
async function attempt<Result>(work: () => Promise<Result>): Promise<{ result?: Result; problem?: string }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof IdentityError || error instanceof UsageError) return { problem: error.message };
    throw error;
  }
}

function cleanedText({ what, removed, problem, byHand }: CleanedUp): string {
  if (removed) return `removed: ${what}`;
  if (problem !== undefined) return `failed: ${what}: ${problem}; by hand: ${byHand}`;
  return `by hand: ${what}: ${byHand}`;
}

/** Lists the files of the tokens and keys that outlive a migration. Names a token by its id; never prints the token. */
async function listTokens({ settings }: MigrationState): Promise<string[]> {
  const warnings: string[] = [];
  for (const [option, file] of Object.entries(settings.secretFiles)) {
    if (!existsSync(file)) continue;
    const text = (await readFile(file, 'utf8')).trim();
    const id = isWellFormed(text)
      ? ` (revoke it with identity pat revoke ${tokenId(text)}, and --data or --firestore of its instance)`
      : '';
    const kind = option.endsWith('token-file') ? 'token' : 'key';
    warnings.push(`by hand: the ${kind} in ${file} stays valid until it expires or is revoked${id}: delete the file`);
  }
  return warnings;
}

/** Lists what a migration leaves on its places: the users of its tokens, and the object that it has read. */
async function listRemainders(call: MigrationCall, directory: string, state: MigrationState): Promise<Remainder[]> {
  const { secretFiles, from, to } = state.settings;
  const plan = await readPlan(directory).catch(() => undefined);
  const users = [
    { place: from, userId: state.callers?.from, kind: plan?.source.kind },
    { place: to, userId: state.callers?.to, kind: plan?.target.kind },
  ].filter(({ place }) => parsePlace(place).kind === 'instance');
  const remainders = users.map(callerByHand);
  if (parsePlace(from).kind !== 'object') return remainders;
  const { result: places, problem } = await attempt(() => openPlaces(call, secretFiles, from, to));
  return [{ ...object(from, places?.[0]), ...(problem === undefined ? {} : { problem }) }, ...remainders];
}

/** A user as state and plan of a migration name it. */
interface NamedUser {
  readonly place: string;
  readonly userId: string | undefined;
  /** The kind of the place, where it is known. */
  readonly kind: string | undefined;
}

/** Returns the user of a token, whom only a person deletes: the command has no access to accounts of another instance. */
function callerByHand({ place, userId, kind }: NamedUser): Remainder {
  const command = `identity service-user delete ${userId ?? 'USER_ID'} with --data or --firestore of ${place}`;
  if (userId !== undefined && isMigrationUser(userId))
    return { what: `the service user ${userId} of identity migrate prepare on ${place}`, byHand: `run ${command}` };
  return {
    what: `the service user ${userId ?? 'of the token'} on ${place}, with its tokens`,
    byHand:
      kind === 'instance'
        ? `if it was created for the migration, run ${command}; otherwise revoke its token there with identity pat revoke`
        : 'if it was created for the migration, delete it there; otherwise only its token',
  };
}

function object(from: string, place: Place | undefined): Remainder {
  const found = { what: `the object ${from}`, byHand: `run gcloud storage rm ${from}` };
  if (place?.takes !== 'files' || place.remove === undefined) return found;
  const { remove } = place;
  return {
    ...found,
    remove: (signal) =>
      remove(signal).catch((error: unknown) => {
        // An earlier clean-up may have been interrupted when the object was gone.
        if (!objectNotFound.is(error)) throw error;
      }),
  };
}
