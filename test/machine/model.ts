import { belongsTo, domainName, type ModelRecord, nameOf, requiredKeys, textAt, textsAt } from './kinds.ts';

/** A token of a user. */
export interface Token {
  readonly userId: string;
  readonly secret: string;
}

const userWriters: ReadonlySet<string> = new Set(
  'IAM_OWNER IAM_ORG_MANAGER IAM_USER_MANAGER IAM_LOGIN_CLIENT ORG_OWNER ORG_USER_MANAGER'.split(' '),
);

/** The content of an instance, and its operations except the import, by the specification (4 and 5). */
export class Model {
  readonly records = new Map<string, ModelRecord>();
  readonly instanceRoles = new Map<string, readonly string[]>();
  readonly tokens = new Map<string, Token>();
  /** Organisations that have had users; uncertain if an import for them was interrupted. */
  readonly scopes = new Map<string, 'settled' | 'unsure'>();
  /**
   * Organisations that have lost records since the last mirror that listed them: no other mirror may restore these
   * records.
   */
  readonly outdated = new Set<string>();

  clone(): Model {
    const copy = new Model();
    for (const [place, record] of this.records) copy.records.set(place, record);
    for (const [userId, roles] of this.instanceRoles) copy.instanceRoles.set(userId, roles);
    for (const [id, token] of this.tokens) copy.tokens.set(id, token);
    for (const [orgId, scope] of this.scopes) copy.scopes.set(orgId, scope);
    for (const orgId of this.outdated) copy.outdated.add(orgId);
    return copy;
  }

  find(...key: readonly string[]): ModelRecord | undefined {
    return this.records.get(key.join(' '));
  }

  has(...key: readonly string[]): boolean {
    return this.find(...key) !== undefined;
  }

  ofSection(section: string): readonly ModelRecord[] {
    return [...this.records.values()].filter((record) => record.section === section);
  }

  loginNamesByDomain(orgId: string): boolean {
    return this.find('settings', orgId, 'domainPolicy')?.json.userLoginMustBeDomain === true;
  }

  /** Deletes a record that no later mirror may restore. */
  remove(place: string): void {
    const record = this.records.get(place);
    if (record !== undefined) this.outdated.add(record.orgId);
    this.records.delete(place);
  }

  change(place: string, record: ModelRecord, changes: Partial<ModelRecord>): void {
    this.records.set(place, { ...record, ...changes, sequence: record.sequence + 1 });
  }

  /** Whether a domain policy would change the scope of existing login names (specification 6.3). */
  changesScope({ section, orgId, json }: ModelRecord): boolean {
    if (section !== 'domainPolicy') return false;
    const isOther = (json.userLoginMustBeDomain === true) !== this.loginNamesByDomain(orgId);
    return isOther && (this.has('settings', orgId, 'domainPolicy') || this.scopes.has(orgId));
  }

  users(orgId?: string): readonly ModelRecord[] {
    const all = [...this.ofSection('humanUsers'), ...this.ofSection('machineUsers')];
    return orgId === undefined ? all : all.filter((user) => user.orgId === orgId);
  }

  /** Whether a person's name ends in a domain that another organisation has verified (zitadel 3.4). */
  isInForeignDomain(record: ModelRecord): boolean {
    if (record.section !== 'humanUsers' || this.loginNamesByDomain(record.orgId)) return false;
    const [, domain] = /@([^@]*)$/.exec(textAt(record, 'user.userName')) ?? [];
    const verified = this.ofSection('domains').find((one) => nameOf(one, this) === domainName(domain ?? ''));
    return domain !== undefined && verified !== undefined && verified.orgId !== record.orgId;
  }

  /** Deletes a user with everything that refers to it, in every organisation. */
  deleteUser(userId: string): void {
    this.remove(`users ${userId}`);
    for (const [place, record] of [...this.records]) if (belongsTo(record, userId)) this.remove(place);
    this.forget(userId);
  }

  /** Deletes an organisation with its records, and those of others that cannot exist without them. */
  deleteOrganisation(orgId: string): void {
    for (const { json } of this.users(orgId)) this.forget(String(json.userId));
    for (const [place, record] of [...this.records]) if (record.orgId === orgId) this.records.delete(place);
    for (let before = Number.POSITIVE_INFINITY; this.records.size < before; ) {
      before = this.records.size;
      for (const [place, record] of [...this.records])
        if (!requiredKeys(record).every((key) => this.has(...key))) this.remove(place);
    }
    this.scopes.delete(orgId);
    this.outdated.delete(orgId);
  }

  private forget(userId: string): void {
    this.instanceRoles.delete(userId);
    for (const [id, token] of this.tokens) if (token.userId === userId) this.tokens.delete(id);
  }

  /** The status of a removal of an OTP e-mail factor (specification 4.1, 5). */
  removalStatus(callerId: string, userId: string): number {
    const caller = this.find('users', callerId);
    const blocked = ['USER_STATE_INACTIVE', 'USER_STATE_LOCKED'];
    if (caller === undefined || blocked.includes(textAt(caller, 'state'))) return 401;
    if (this.find('organisations', caller.orgId)?.json.orgState === 'ORG_STATE_INACTIVE') return 403;
    const user = this.find('users', userId);
    const member = this.find('members', 'organisation', user?.orgId ?? '', callerId);
    const roles = [
      ...(this.instanceRoles.get(callerId) ?? []),
      ...(member === undefined ? [] : textsAt(member, 'roles[]')),
    ];
    if (callerId !== userId && !roles.some((role) => userWriters.has(role))) return 403;
    return user?.factor === true ? 200 : 404;
  }
}
