import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { isMigrationUser } from '../../shared/accounts/serviceUsers.ts';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectNotFound } from '../../shared/errors/storageErrors.ts';
import { interruptible, NOTHING_CHANGED, type Output, UsageError } from '../command.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import type { Place } from '../places/place.ts';
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
  /** Why it is not removed with the rest. */
  readonly reason?: string;
  /** Why it could not be looked at. */
  readonly problem?: string;
  /** The file of the token that ends with it. */
  readonly tokenFile?: string;
  /** Removes it; undefined where only a person can. What has a reason is removed by a question of its own. */
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
  const remainders = await interruptible(call.signal, NOTHING_CHANGED, () => findRemainders(call, directory, state));
  const { confirmedAt, finishedAt, settings } = state;
  const isDatabase = ['instance', 'sqlite', 'firestore'].includes(parsePlace(settings.to).kind);
  if (confirmedAt !== undefined && finishedAt === undefined && isDatabase)
    remainders.push({ what: `records imported into ${settings.to}`, byHand: 'delete their organisations there' });
  const warnings = await listTokens(state, remainders.filter(isCertain));
  const giveUp = 'the migration is not finished: it cannot be resumed then';
  const certain = remainders.filter(isCertain).map(({ what }) => `remove ${what}`);
  const lines = [
    ...(state.finishedAt === undefined ? [giveUp] : []),
    ...certain,
    state.finishedAt === undefined ? `remove the run directory ${directory}` : keptText(directory, state),
    ...remainders.filter((one) => !isCertain(one)).map((one) => cleanedText({ ...one, removed: false })),
    ...warnings,
  ];
  // The others have a question each.
  const isNothing = state.finishedAt !== undefined && certain.length === 0;
  if (!isNothing && !(await askConfirmation('Clean up?', call, lines))) {
    return {
      json: { event: 'result', removed: false, remainders, warnings },
      text: [...lines, 'nothing is removed: add --yes'],
      exitStatus: () => 'unconfirmed',
    };
  }
  const chosen = await choose(call, remainders);
  const interruption = 'interrupted: repeat the command to remove the rest';
  const cleaned = await interruptible(call.signal, interruption, () => removeAll(call.signal, remainders, chosen));
  return finish(directory, state, cleaned);
}

async function finish(directory: string, state: MigrationState, cleaned: readonly CleanedUp[]): Promise<Output> {
  const isDone = cleaned.every(({ problem }) => problem === undefined);
  // A finished migration keeps its evidence; and what could not be removed can be tried again, with another token.
  const isGone = isDone && state.finishedAt === undefined;
  const hadExport = await removeExport(directory);
  if (isGone) await rm(directory, { recursive: true });
  const removed = cleaned.filter((one) => one.removed);
  const warnings = await listTokens(state, removed);
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

/** Whether a remainder is removed with the rest. */
function isCertain({ remove, reason }: Remainder): boolean {
  return remove !== undefined && reason === undefined;
}

/** Asks for each remainder that has a question of its own; `--yes` is no answer to that. */
async function choose(call: MigrationCall, remainders: readonly Remainder[]): Promise<Set<Remainder>> {
  const chosen = new Set(remainders.filter(isCertain));
  const asked = { ...call, options: {} };
  for (const one of remainders) {
    if (chosen.has(one) || one.remove === undefined || call.options.yes) continue;
    if (await askConfirmation('Remove it nevertheless?', asked, [`${one.what}: ${one.reason}`])) chosen.add(one);
  }
  return chosen;
}

async function removeAll(
  signal: AbortSignal,
  remainders: readonly Remainder[],
  chosen: ReadonlySet<Remainder>,
): Promise<CleanedUp[]> {
  const cleaned: CleanedUp[] = [];
  for (const one of remainders) {
    const { remove } = one;
    if (remove === undefined || !chosen.has(one)) cleaned.push({ ...one, removed: false });
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

function cleanedText({ what, removed, reason, problem, byHand }: CleanedUp): string {
  if (removed) return `removed: ${what}`;
  if (problem !== undefined) return `failed: ${what}: ${problem}; by hand: ${byHand}`;
  return `by hand: ${what}${reason === undefined ? '' : ` (${reason})`}: ${byHand}`;
}

/**
 * Lists the tokens and keys that outlive a migration, by their files. Of a token, its id is said, never itself.
 * @param removed what is removed, with the tokens of removed users
 */
async function listTokens({ settings }: MigrationState, removed: readonly Remainder[]): Promise<string[]> {
  const dead = new Set(removed.map(({ tokenFile }) => tokenFile));
  const warnings: string[] = [];
  for (const [option, file] of Object.entries(settings.secretFiles)) {
    if (!existsSync(file)) continue;
    const text = (await readFile(file, 'utf8')).trim();
    const id = isWellFormed(text)
      ? ` (revoke it with identity pat revoke ${tokenId(text)}, and --data or --firestore of its instance)`
      : '';
    const kind = option.endsWith('token-file') ? 'token' : 'key';
    const life = dead.has(file) ? 'ends with its user' : `stays valid until it expires or is revoked${id}`;
    warnings.push(`by hand: the ${kind} in ${file} ${life}: delete the file`);
  }
  return warnings;
}

/** Finds what a migration leaves behind: the users of its tokens, and the object that it has read. */
async function findRemainders(call: MigrationCall, directory: string, state: MigrationState): Promise<Remainder[]> {
  const { secretFiles, from, to } = state.settings;
  const sides = (['from', 'to'] as const).map((side, index) => {
    const place = state.settings[side];
    return { side, index, place, kind: parsePlace(place).kind };
  });
  const left = sides.filter(({ side, kind }) => kind === 'instance' || (kind === 'object' && side === 'from'));
  if (left.length === 0) return [];
  // Users of instances only a person deletes: their places need not be asked.
  const plan = await readPlan(directory).catch(() => undefined);
  const kinds = { from: plan?.source.kind, to: plan?.target.kind };
  const isKnown = (side: 'from' | 'to') => kinds[side] === 'instance' || isMigrationUser(state.callers?.[side] ?? '');
  const { result: places, problem } = await attempt(async () =>
    left.every(({ side }) => isKnown(side)) ? undefined : openPlaces(call, secretFiles, from, to),
  );
  const found: Remainder[] = [];
  for (const { side, index, place, kind } of left) {
    const failure = problem === undefined || isKnown(side) ? {} : { problem };
    if (kind === 'object') {
      found.push({ ...object(place, places?.[index]), ...failure });
      continue;
    }
    const user = { place, userId: state.callers?.[side] };
    const one = isKnown(side) ? callerByHand(user) : await findCaller(call, state, places?.[index], user);
    const tokenFile = secretFiles[`${side}-token-file`] ?? secretFiles['token-file'];
    found.push({ ...one, ...failure, ...(tokenFile === undefined ? {} : { tokenFile }) });
  }
  return found;
}

/** A user as the state of a migration names it. */
interface NamedUser {
  readonly place: string;
  readonly userId: string | undefined;
}

/** A user whom the command cannot delete, or not reach. */
function callerByHand({ place, userId }: NamedUser): Remainder {
  const command = `identity service-user delete ${userId ?? 'USER_ID'} with --data or --firestore of ${place}`;
  if (userId !== undefined && isMigrationUser(userId))
    return { what: `the service user ${userId} of identity migrate prepare on ${place}`, byHand: `run ${command}` };
  return {
    what: `the service user ${userId ?? 'of the token'} on ${place}, with its tokens`,
    byHand: `if it was created for the migration, run ${command}; otherwise revoke its token there with identity pat revoke`,
  };
}

/** Only a user who is younger than the migration can have been created for nothing else. */
async function findCaller(
  { signal }: MigrationCall,
  { startedAt }: MigrationState,
  place: Place | undefined,
  named: NamedUser,
): Promise<Remainder> {
  const { result: user, problem } = await attempt(async () => {
    return place?.takes === 'imports' ? place.findDeletable?.(signal) : undefined;
  });
  if (problem !== undefined) return { ...callerByHand(named), problem };
  if (user === undefined) return callerByHand(named);
  const { name, userId, organisation, createdAt, tokens, keptBecause } = user;
  const reasons = [
    ...(keptBecause === undefined ? [] : [keptBecause]),
    ...(Date.parse(createdAt) < Date.parse(startedAt) ? ['it is older than the migration'] : []),
    ...(tokens > 1 ? ['it has other tokens'] : []),
  ];
  return {
    what: `the user ${name} (${userId}) of the organisation ${organisation} on ${named.place}, created at ${createdAt}, tokens: ${tokens}`,
    byHand: "if it was created for the migration, delete it in ZITADEL's console; otherwise only its token",
    ...(reasons.length === 0 ? {} : { reason: reasons.join(', ') }),
    ...(keptBecause === undefined ? { remove: user.delete } : {}),
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
