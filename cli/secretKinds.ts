import { z } from 'zod';

/** The secrets that an export contains only on request, and the request's fields for them. */
const fields = { passwords: 'withPasswords', otp: 'withOtp', keys: 'withKeys' } as const;

/** A kind of secrets. */
export type SecretKind = keyof typeof fields;

const kind = z.enum(['passwords', 'otp', 'keys']);

/** The schema of a list such as `passwords,otp`. */
export const secretKinds = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(kind));

/** Which secrets an export contains. */
export type SecretSelection = Readonly<Record<(typeof fields)[SecretKind], boolean>>;

/** Returns the secrets that a list selects, which the call has been checked for. */
export function secretSelection(text: string | undefined): SecretSelection {
  const selected = new Set(text === undefined ? [] : secretKinds.parse(text));
  const has = (name: SecretKind) => selected.has(name);
  return { withPasswords: has('passwords'), withOtp: has('otp'), withKeys: has('keys') };
}

/** Lists the kinds of secrets that a selection has. */
export function selectedKinds(selection: SecretSelection): readonly SecretKind[] {
  return kind.options.filter((name) => selection[fields[name]]);
}

/** Lists the kinds of secrets that a selection does not have. */
export function missingKinds(selection: SecretSelection): readonly SecretKind[] {
  return kind.options.filter((name) => !selection[fields[name]]);
}
