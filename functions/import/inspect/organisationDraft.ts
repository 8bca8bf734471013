import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { isRecord, type JsonRecord } from '../../../shared/json/jsonObject.ts';
import { readMessage } from '../../../shared/organisation/message.ts';
import { complexityOf, type PasswordComplexity } from '../../../shared/organisation/passwordComplexity.ts';
import { type OrganisationRecord, recordOf } from '../../../shared/organisation/record.ts';
import { organisationSection } from '../../../shared/organisation/sections.ts';

/** What is known of an organisation of the document before any of its records is written. */
export interface OrganisationHeader {
  readonly orgId: string;
  /** The organisation's own record; none where the document names only its id. */
  readonly record: OrganisationRecord | undefined;
  /** What a v1 document says of the login policy outside it. */
  readonly loginPolicyAdditions: LoginPolicyAdditions;
  /** Whether login names carry the organisation's domain; undefined where the document has no domain policy. */
  readonly loginNamesByDomain: boolean | undefined;
  /** What clear passwords must have; undefined where the document has no policy for it. */
  readonly passwordComplexity: PasswordComplexity | undefined;
  /** How much of the document has no record that it belongs to, and so is not carried, by its fields' names. */
  readonly strayed: Readonly<Record<string, number>>;
}

/** An organisation's plain fields as they are met in the document. */
export class OrganisationDraft {
  private readonly fields: JsonRecord = {};
  additions: LoginPolicyAdditions = {};
  private loginNamesByDomain: boolean | undefined;
  private passwordComplexity: PasswordComplexity | undefined;
  private hasLoginPolicy = false;
  /** Whether a record came before the organisation's id. */
  late = false;

  /** Undefined as long as the id has not been met. */
  get orgId(): string | undefined {
    return typeof this.fields.orgId === 'string' ? this.fields.orgId : undefined;
  }

  /** Takes a field that is no section, or an element of a list that only a v1 document has. */
  take(name: string, value: unknown): void {
    const additions = withAddition(this.additions, name, value);
    if (additions !== undefined) this.additions = additions;
    else Object.assign(this.fields, readMessage(DataOrgSchema, { [name]: value }, {}));
  }

  /** Takes note of a policy that decides about other records of the organisation. */
  takePolicy({ section, json }: OrganisationRecord): void {
    if (section.name === 'loginPolicy') this.hasLoginPolicy = true;
    if (section.name === 'domainPolicy') this.loginNamesByDomain = json.userLoginMustBeDomain === true;
    if (section.name === 'passwordComplexityPolicy') this.passwordComplexity = complexityOf(json);
  }

  header(): OrganisationHeader {
    const { org, orgState } = this.fields;
    const orgId = this.orgId ?? '';
    const json: JsonRecord = { orgId, org, ...(orgState === undefined ? {} : { orgState }) };
    return {
      orgId,
      record: isRecord(org) ? recordOf(organisationSection, json, orgId, false) : undefined,
      loginPolicyAdditions: this.additions,
      loginNamesByDomain: this.loginNamesByDomain,
      passwordComplexity: this.passwordComplexity,
      strayed: this.strayed,
    };
  }

  /** A v1 document's parts of a login policy that it does not have, and the state of an organisation not described. */
  private get strayed(): Record<string, number> {
    const { org, orgState } = this.fields;
    const additions = this.hasLoginPolicy ? [] : Object.entries(this.additions);
    const lengths = additions.map(([name, list]): [string, number] => [name, list.length]);
    return { ...Object.fromEntries(lengths), ...(isRecord(org) || orgState === undefined ? {} : { orgState: 1 }) };
  }
}

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
