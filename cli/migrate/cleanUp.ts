import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { isWellFormed, tokenId } from '../../shared/auth/token.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { objectNotFound } from '../../shared/errors/storageErrors.ts';
import { interruptible, type Output, UsageError } from '../command.ts';
import { askConsent } from '../consent.ts';
import { openPlaces } from '../places/openPlaces.ts';
import { parsePlace } from '../places/parsePlace.ts';
import type { Place } from '../places/place.ts';
import { printableLines } from '../texts.ts';
import type { MigrationCall } from './callOptions.ts';
import { type MigrationState, readState } from './run.ts';
import { lockRunDirectory, removeExport } from './runDirectory.ts';
import { replaceSecretFiles } from './settings.ts';

/** Something that a migration leaves behind on its places. */
interface Remainder {
  /** What it is, as questions and answers name it. */
  readonly what: string;
  /** How a person removes it. */
  readonly byHand: string;
  /** The side of the migration that has it. */
  readonly side: 'from' | 'to';
  /** Removes it where the place permits that; false where it has no call for it. */
  readonly remove: (place: Place, signal: AbortSignal) => Promise<boolean>;
}

/** A remainder after the clean-up. */
interface CleanedUp {
  readonly what: string;
  readonly removed: boolean;
  /** Why it could not be removed. */
  readonly problem?: string;
  /** What a person does instead. */
  readonly byHand?: string;
}

/** Removes what a migration leaves behind, and its run directory, if a person confirms. */
export async function cleanUp(call: MigrationCall, directory: string): Promise<Output> {
  using _lock = await lockRunDirectory(directory);
  const stored = await readState(directory);
  const state = { ...stored, settings: replaceSecretFiles(stored.settings, call.options) };
  const remainders = listRemainders(state);
  const warnings = await listTokens(state);
  const giveUp = 'the migration is not finished: it cannot be resumed then';
  const lines = [
    ...(state.finishedAt === undefined ? [giveUp] : []),
    ...remainders.map(({ what }) => `remove ${what}`),
    `remove the run directory ${directory}`,
    ...warnings,
  ];
  if (!(await askConsent(`${printableLines(lines)}\nClean up?`, call))) {
    const byHand = remainders.map((one) => `by hand: ${one.what}: ${one.byHand}`);
    return {
      json: { event: 'result', removed: false, remainders, warnings },
      text: printableLines([...lines, ...byHand, 'nothing is removed: add --yes']),
      exitStatus: () => 'consentMissing',
    };
  }
  const interruption = 'interrupted: repeat the command to remove the rest';
  const cleaned = await interruptible(call.signal, interruption, () => removeAll(call, state, remainders));
  const isDone = cleaned.every(({ problem }) => problem === undefined);
  // What could not be removed can be tried again, with another token.
  if (isDone) await rm(directory, { recursive: true });
  else await removeExport(directory);
  const kept = `kept: the run directory ${directory}, to try again; it holds no secrets`;
  const text = [...cleaned.map(cleanedText), isDone ? `removed: the run directory ${directory}` : kept, ...warnings];
  return {
    json: { event: 'result', removed: isDone, remainders: cleaned, warnings },
    text: printableLines(text),
    exitStatus: () => (isDone ? 'done' : 'listed'),
  };
}

async function removeAll(
  call: MigrationCall,
  { settings: { secretFiles, from, to } }: MigrationState,
  remainders: readonly Remainder[],
): Promise<CleanedUp[]> {
  if (remainders.length === 0) return [];
  const opened = await attempt(() => openPlaces(call, secretFiles, from, to));
  const cleaned: CleanedUp[] = [];
  for (const { what, byHand, side, remove } of remainders) {
    const place = opened.result?.[side === 'from' ? 0 : 1];
    const { result: removed = false, problem } =
      place === undefined
        ? { result: false, problem: opened.problem }
        : await attempt(() => remove(place, call.signal));
    const failure = problem === undefined ? {} : { problem };
    cleaned.push(removed ? { what, removed } : { what, removed, byHand, ...failure });
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

function cleanedText({ what, removed, problem, byHand = '' }: CleanedUp): string {
  if (removed) return `removed: ${what}`;
  return problem === undefined ? `by hand: ${what}: ${byHand}` : `failed: ${what}: ${problem}; by hand: ${byHand}`;
}

/** Lists the tokens and keys that outlive a migration, by their files. Of a token, its id is said, never itself. */
async function listTokens({ settings: { secretFiles } }: MigrationState): Promise<string[]> {
  const warnings: string[] = [];
  for (const [option, file] of Object.entries(secretFiles)) {
    if (!existsSync(file)) continue;
    const text = (await readFile(file, 'utf8')).trim();
    const id = isWellFormed(text) ? ` (revoke it with identity pat revoke ${tokenId(text)})` : '';
    const kind = option.endsWith('token-file') ? 'token' : 'key';
    warnings.push(`the ${kind} in ${file} stays valid until it expires or is revoked${id}: delete the file`);
  }
  return warnings;
}

/** Lists what a migration leaves behind: the users of its tokens, and the object that it has read. */
function listRemainders({ settings: { from, to }, callers = {} }: MigrationState): Remainder[] {
  const isInstance = (place: string) => parsePlace(place).kind === 'instance';
  return [
    ...(isInstance(from) ? [caller('from', from, callers.from)] : []),
    ...(isInstance(to) ? [caller('to', to, callers.to)] : []),
    ...(parsePlace(from).kind === 'object' ? [object(from)] : []),
  ];
}

function caller(side: Remainder['side'], place: string, userId: string | undefined): Remainder {
  const user = userId ?? 'USER_ID';
  return {
    what: `the service user ${userId ?? 'of the token'} on ${place}, with its tokens`,
    byHand: `if it was created for the migration, run identity service-user delete ${user} with --data or --firestore of ${place}; otherwise revoke its token with identity pat revoke; in ZITADEL, delete it in the console`,
    side,
    remove: async (opened, signal) => opened.takes === 'imports' && ((await opened.deleteCaller?.(signal)) ?? false),
  };
}

function object(from: string): Remainder {
  return {
    what: `the object ${from}`,
    byHand: `run gcloud storage rm ${from}`,
    side: 'from',
    async remove(opened, signal) {
      if (opened.takes !== 'files' || opened.remove === undefined) return false;
      await opened.remove(signal).catch((error: unknown) => {
        // An earlier clean-up may have been interrupted when the object was gone.
        if (!objectNotFound.is(error)) throw error;
      });
      return true;
    },
  };
}
