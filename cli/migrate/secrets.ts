import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type SecretKind, secretSelection } from '../../shared/exportFile/secretSelection.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { UsageError } from '../command.ts';
import { inspectPlace } from '../exports/inspectPlace.ts';
import { progressOutput } from '../places/callOptions.ts';
import { askChoice, canAsk } from '../questions.ts';
import { counted } from '../texts.ts';
import { SECRET_CHOICES } from '../values.ts';
import type { PlanningCall } from './callOptions.ts';
import { type MigrationSettings, sourceOptions } from './settings.ts';
import type { Side } from './sides.ts';

/**
 * Requires that a migration is told which secrets move, or that a person can be asked.
 * @throws UsageError
 */
export function requireSecrets(call: PlanningCall): void {
  const { with: given, json, yes } = call.options;
  if (given === undefined && (json || yes || !canAsk(call)))
    throw new UsageError(`missing option --with: specify the secrets that move: ${SECRET_CHOICES}`);
}

/** The answers to the question which secrets move. `--with` takes any other choice. */
const answers: Readonly<Record<string, readonly SecretKind[]>> = {
  'passwords, otp and keys': ['passwords', 'otp', 'keys'],
  'passwords and otp': ['passwords', 'otp'],
  passwords: ['passwords'],
  none: [],
};

/** Returns the settings with the secrets that a person at the terminal chooses, where the call does not name them. */
export async function chooseSecrets(
  call: PlanningCall,
  settings: MigrationSettings,
  source: Side,
): Promise<MigrationSettings> {
  if (call.options.with !== undefined) return settings;
  const people = await countPeople(call, settings, source);
  const upTo = source.place.takes === 'files' ? '' : 'up to ';
  const who = people === undefined ? 'people' : `${upTo}${counted(people, 'person')}`;
  const question = `Which secrets move? Without passwords, ${who} would have to set a new password.`;
  const answer = await askChoice(question, Object.keys(answers), call);
  return { ...settings, ...secretSelection(answers[answer]) };
}

/** A source that takes longer to count is not counted. */
const COUNTING_MS = 10_000;

/**
 * Counts the people who move, by an export without secrets; of a file, those with a password.
 * @returns undefined where that takes longer
 */
async function countPeople(
  call: PlanningCall,
  settings: MigrationSettings,
  { place, facts }: Side,
): Promise<number | undefined> {
  const limit = AbortSignal.timeout(COUNTING_MS);
  const signal = AbortSignal.any([call.signal, limit]);
  const people = new PeopleTally(place.takes === 'files');
  try {
    const { manifest } = await inspectPlace(place, sourceOptions(settings), people, progressOutput(call), signal);
    const staying = settings.orgIds.length > 0 ? undefined : (facts?.defaultOrgId ?? manifest?.defaultOrgId);
    return people.countWithout(staying);
  } catch (error) {
    if (limit.aborted && !call.signal.aborted) return undefined;
    throw error;
  }
}

/** The people of each organisation. */
class PeopleTally implements RecordVisitor {
  private readonly counts = new Map<string, number>();
  private readonly hasPasswords: boolean;

  /** @param hasPasswords whether the source shows who has a password */
  constructor(hasPasswords: boolean) {
    this.hasPasswords = hasPasswords;
  }

  add({ section, orgId, credentials, clearPassword }: OrganisationRecord): void {
    if (section !== humanUserSection) return;
    const hasPassword = credentials.passwordHash !== undefined || clearPassword !== undefined;
    if (hasPassword || !this.hasPasswords) this.counts.set(orgId, (this.counts.get(orgId) ?? 0) + 1);
  }

  reset(): void {
    this.counts.clear();
  }

  countWithout(staying: string | undefined): number {
    return [...this.counts].reduce((sum, [orgId, count]) => (orgId === staying ? sum : sum + count), 0);
  }
}
