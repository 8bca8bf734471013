import { secretsMissing } from '../places/placeOptions.ts';
import { type SecretKind, secretNames, secretSelection } from '../records/secretSelection.ts';
import { askChoice, canAsk } from '../terminal/questions.ts';
import type { MigrationCall } from './migrationOptions.ts';
import type { OpenSide } from './openSides.ts';
import { isFilePlace, type MigrationSettings } from './settings.ts';

/**
 * Requires that the call has `--with`, unless the source is a file or the command can ask a user at a terminal.
 * @throws IdentityError USAGE_INVALID if `--with` is missing
 */
export function requireSecrets(call: MigrationCall): void {
  const { with: requestedSecrets, json, yes, from } = call.options;
  if (requestedSecrets === undefined && !isFilePlace(from) && (json || yes || !canAsk(call))) throw secretsMissing();
}

/**
 * True if `--with` or the user's answer selects the secrets to move. False if the call has no `--with` and the source
 * is a file, because then all its secrets move.
 */
export function selectsSecrets({ options: { with: requestedSecrets, from } }: MigrationCall): boolean {
  return requestedSecrets !== undefined || !isFilePlace(from);
}

/**
 * The answers that the user can choose, each with the kinds of secrets that it selects. Only `--with` permits other
 * combinations.
 */
const answers: Readonly<Record<string, readonly SecretKind[]>> = {
  'passwords, otp and keys': ['passwords', 'otp', 'keys'],
  'passwords and otp': ['passwords', 'otp'],
  passwords: ['passwords'],
  none: [],
};

/**
 * If the call has no `--with`, asks the user at the terminal which secrets move, and adds the answer to the settings.
 * If the source is a file, selects all kinds without a question; the command corrects this selection after it has read
 * the file.
 */
export async function chooseSecrets(
  call: MigrationCall,
  settings: MigrationSettings,
  { place }: OpenSide,
): Promise<MigrationSettings> {
  if (call.options.with !== undefined) return settings;
  if (place.takes === 'files') return { ...settings, ...secretSelection(secretNames) };
  const question = 'Which secrets should move? Without passwords, people must set a new password.';
  const answer = await askChoice(question, Object.keys(answers), call);
  return { ...settings, ...secretSelection(answers[answer]) };
}
