import { isRecord } from '../../shared/contract/jsonRecord.ts';

/** What a v1 document holds beside the login policy that the v2 document has inside it (contract 2, 5.9). */
export interface LoginPolicyAdditions {
  readonly secondFactors?: readonly unknown[];
  readonly multiFactors?: readonly unknown[];
  readonly idps?: readonly unknown[];
}

/** The additions with one more element of a v1 document's list; undefined where `name` is no such list. */
export function withAddition(
  additions: LoginPolicyAdditions,
  name: string,
  value: unknown,
): LoginPolicyAdditions | undefined {
  if (name === 'idps') return { ...additions, idps: [...(additions.idps ?? []), value] };
  if (name !== 'secondFactors' && name !== 'multiFactors') return undefined;
  return { ...additions, [name]: [...(additions[name] ?? []), isRecord(value) ? value.type : value] };
}

/** The login policy with the additions put where the v2 document has them; lists that are there replace its own. */
export function loginPolicyWith(policy: unknown, additions: LoginPolicyAdditions): unknown {
  return isRecord(policy) ? { ...policy, ...additions } : policy;
}
