// Chooses which secrets a migration moves.

import { secretsMissing } from '../places/placeOptions.ts';
import { type SecretKind, secretNames, secretSelection } from '../records/secretSelection.ts';
import { askChoice, canAsk } from '../terminal/questions.ts';
import type { MigrationCall } from './migrationOptions.ts';
import type { OpenSide } from './openSides.ts';
import { isFilePlace, type MigrationSettings } from './settings.ts';

/**
 * Requires `--with`, unless the source is a file or a user at a terminal can choose.
 * @throws IdentityError USAGE_INVALID
 */
export function requireSecrets(call: MigrationCall): void {
  const { with: given, json, yes, from } = call.options;
  if (given === undefined && !isFilePlace(from) && (json || yes || !canAsk(call))) throw secretsMissing();
}

/**
 * Whether the call or its user selects the secrets to move. Otherwise the source is a file, and all secrets of the file
 * move.
 */
export function selectsSecrets({ options: { with: given, from } }: MigrationCall): boolean {
  return given !== undefined || !isFilePlace(from);
}

/** The choices that the question about secrets offers. `--with` permits all other combinations too. */
const answers: Readonly<Record<string, readonly SecretKind[]>> = {
  'passwords, otp and keys': ['passwords', 'otp', 'keys'],
  'passwords and otp': ['passwords', 'otp'],
  passwords: ['passwords'],
  none: [],
};

/**
 * Adds the secrets to move to the settings if the call has no `--with`: the secrets that the user chooses at the
 * terminal. If the source is a file, selects all kinds until the command has read the file.
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
