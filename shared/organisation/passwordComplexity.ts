import type { JsonObject } from '../json/jsonObject.ts';
import type { RecordFault } from './section.ts';

/** What a clear password must have: ZITADEL's policy, as the organisation document has it (contract 2.2). */
export interface PasswordComplexity {
  readonly minLength: number;
  readonly hasLowercase: boolean;
  readonly hasUppercase: boolean;
  readonly hasNumber: boolean;
  readonly hasSymbol: boolean;
}

/** What holds for organisations without a policy of their own (contract 3.4). */
export const defaultComplexity: PasswordComplexity = {
  minLength: 8,
  hasLowercase: true,
  hasUppercase: true,
  hasNumber: true,
  hasSymbol: true,
};

/** Reads a policy from its record in canonical form, in which what is false is left out. */
export function complexityOf(policy: JsonObject): PasswordComplexity {
  return {
    minLength: Number(policy.minLength ?? 0),
    hasLowercase: policy.hasLowercase === true,
    hasUppercase: policy.hasUppercase === true,
    hasNumber: policy.hasNumber === true,
    hasSymbol: policy.hasSymbol === true,
  };
}

const key = (name: string) => `Errors.User.PasswordComplexityPolicy.${name}`;

/** Why a password is too weak (contract 3.4); undefined when it is not. */
export function complexityFault(policy: PasswordComplexity, password: string): RecordFault | undefined {
  if ([...password].length < policy.minLength) return { id: 'DOMAIN-HuJf6', key: key('MinLength') };
  if (policy.hasLowercase && !/\p{Ll}/u.test(password)) return { id: 'DOMAIN-co3Xw', key: key('HasLower') };
  if (policy.hasUppercase && !/\p{Lu}/u.test(password)) return { id: 'DOMAIN-VoaRj', key: key('HasUpper') };
  if (policy.hasNumber && !/[0-9]/.test(password)) return { id: 'DOMAIN-ZBv4H', key: key('HasNumber') };
  if (policy.hasSymbol && !/[^A-Za-z0-9]/.test(password)) return { id: 'DOMAIN-ZDLwA', key: key('HasSymbol') };
  return undefined;
}
