// The choice of the secrets that a migration moves.

import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type SecretKind, type SecretSelection, secretSelection } from '../../shared/exportFile/secretSelection.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { UsageError } from '../command.ts';
import { stayingOrganisation } from '../exports/defaultOrganisation.ts';
import { FileSecrets } from '../exports/fileFacts.ts';
import { inspectPlace } from '../exports/inspectPlace.ts';
import { counted } from '../numberTexts.ts';
import { progressOutput } from '../places/placeOptions.ts';
import { askChoice, canAsk } from '../questions.ts';
import { SECRET_CHOICES } from '../valueFormats.ts';
import type { PlanningCall } from './migrationOptions.ts';
import type { OpenSide } from './openSides.ts';
import { isFilePlace, type MigrationSettings, sourceOptions } from './settings.ts';

/**
 * Requires `--with`, unless the source is a file or a person at a terminal can be asked.
 * @throws UsageError
 */
export function requireSecrets(call: PlanningCall): void {
  const { with: given, json, yes, from } = call.options;
  if (given === undefined && !isFilePlace(from) && (json || yes || !canAsk(call)))
    throw new UsageError(`missing option --with: specify the secrets to move: ${SECRET_CHOICES}`);
}

/** The answers to the question about secrets. `--with` allows all combinations. */
const answers: Readonly<Record<string, readonly SecretKind[]>> = {
  'passwords, otp and keys': ['passwords', 'otp', 'keys'],
  'passwords and otp': ['passwords', 'otp'],
  passwords: ['passwords'],
  none: [],
};

/**
 * Completes the settings with the secrets to move if the call has no `--with`: those in a file, or those that the user
 * chooses at the terminal.
 */
export async function chooseSecrets(
  call: PlanningCall,
  settings: MigrationSettings,
  source: OpenSide,
): Promise<MigrationSettings> {
  if (call.options.with !== undefined) return settings;
  if (source.place.takes === 'files') return { ...settings, ...(await readSecrets(call, settings, source)) };
  const people = await countPeople(call, settings, source);
  const who = people === undefined ? 'people' : `up to ${counted(people, 'person')}`;
  const question = `Which secrets move? Without passwords, ${who} would have to set a new password.`;
  const answer = await askChoice(question, Object.keys(answers), call);
  return { ...settings, ...secretSelection(answers[answer]) };
}

/** Returns the kinds of secrets that a file contains. */
async function readSecrets(
  call: PlanningCall,
  settings: MigrationSettings,
  { place }: OpenSide,
): Promise<SecretSelection> {
  const secrets = new FileSecrets();
  await inspectPlace(place, sourceOptions(settings), secrets, progressOutput(call), call.signal);
  return secrets.selection;
}

/** The time limit for counting people. */
const COUNTING_MS = 10_000;

/**
 * Counts the people to move, by an export without secrets.
 * @returns undefined after the time limit
 */
async function countPeople(
  call: PlanningCall,
  settings: MigrationSettings,
  source: OpenSide,
): Promise<number | undefined> {
  const limit = AbortSignal.timeout(COUNTING_MS);
  const signal = AbortSignal.any([call.signal, limit]);
  const people = new PeopleTally();
  try {
    await inspectPlace(source.place, sourceOptions(settings), people, progressOutput(call), signal);
    return people.countWithout(stayingOrganisation(source.facts, settings.orgIds));
  } catch (error) {
    if (limit.aborted && !call.signal.aborted) return undefined;
    throw error;
  }
}

/** The people of each organisation. */
class PeopleTally implements RecordVisitor {
  private readonly counts = new Map<string, number>();

  add({ section, orgId }: OrganisationRecord): void {
    if (section === humanUserSection) this.counts.set(orgId, (this.counts.get(orgId) ?? 0) + 1);
  }

  reset(): void {
    this.counts.clear();
  }

  countWithout(staying: string | undefined): number {
    return [...this.counts].reduce((sum, [orgId, count]) => (orgId === staying ? sum : sum + count), 0);
  }
}
