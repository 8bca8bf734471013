/** The kinds of secrets that an export contains only if the request selects them. */
export const secretNames = ['passwords', 'otp', 'keys'] as const;

const fields = { passwords: 'withPasswords', otp: 'withOtp', keys: 'withKeys' } as const;

export type SecretKind = (typeof secretNames)[number];

export type SecretSelection = Readonly<Record<(typeof fields)[SecretKind], boolean>>;

export function secretSelection(selected: readonly SecretKind[] = []): SecretSelection {
  const has = (name: SecretKind) => selected.includes(name);
  return { withPasswords: has('passwords'), withOtp: has('otp'), withKeys: has('keys') };
}

export const noSecrets = secretSelection();

export function selectedKinds(selection: SecretSelection): readonly SecretKind[] {
  return secretNames.filter((name) => selection[fields[name]]);
}

export function missingKinds(selection: SecretSelection): readonly SecretKind[] {
  return secretNames.filter((name) => !selection[fields[name]]);
}
