/** The secrets that an export contains only on request. */
export const secretNames = ['passwords', 'otp', 'keys'] as const;

/** The fields of a request that select these secrets. */
const fields = { passwords: 'withPasswords', otp: 'withOtp', keys: 'withKeys' } as const;

/** A kind of secrets. */
export type SecretKind = (typeof secretNames)[number];

/** The kinds of secrets that an export contains. */
export type SecretSelection = Readonly<Record<(typeof fields)[SecretKind], boolean>>;

/** Returns the secrets that a list selects. */
export function secretSelection(selected: readonly SecretKind[] = []): SecretSelection {
  const has = (name: SecretKind) => selected.includes(name);
  return { withPasswords: has('passwords'), withOtp: has('otp'), withKeys: has('keys') };
}

/** The selection of no secrets. */
export const noSecrets = secretSelection();

/** Lists the selected kinds of secrets. */
export function selectedKinds(selection: SecretSelection): readonly SecretKind[] {
  return secretNames.filter((name) => selection[fields[name]]);
}

/** Lists the kinds of secrets that are not selected. */
export function missingKinds(selection: SecretSelection): readonly SecretKind[] {
  return secretNames.filter((name) => !selection[fields[name]]);
}
