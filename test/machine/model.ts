import { isDeepStrictEqual } from 'node:util';
import type { Organisation } from '../support/fixtures/organisations.ts';
import { domainName, kindOf, type ModelRecord, placeOf, textAt, textsAt } from './kinds.ts';
import { type Entry, readFile, withState } from './modelFile.ts';

/** The options of an import that decide about records (specification 2.5). */
export interface Options {
  readonly onConflict: 'report' | 'skip' | 'overwrite';
  readonly withKeys: boolean;
}

/** What an import does with a record (specification 2.9); a record of an organisation that cannot be written has no error. */
export interface Outcome {
  readonly section: string;
  readonly kind: 'created' | 'unchanged' | 'overwritten' | 'skipped' | 'failed' | 'notCarried';
  readonly error?: { readonly type: string; readonly id: string };
}

/** A token of a user. */
export interface Token {
  readonly userId: string;
  readonly secret: string;
}

const phases = [0, 1, 2, 3, 4] as const;
const userWriters: ReadonlySet<string> = new Set(
  'IAM_OWNER IAM_ORG_MANAGER IAM_USER_MANAGER IAM_LOGIN_CLIENT ORG_OWNER ORG_USER_MANAGER'.split(' '),
);

/** What an instance holds and what its operations do, by the specification (4, 5 and 6). */
export class Model {
  readonly records = new Map<string, ModelRecord>();
  readonly instanceRoles = new Map<string, readonly string[]>();
  readonly tokens = new Map<string, Token>();
  /** Organisations that have had users; unsure where an import for them was interrupted. */
  readonly scopes = new Map<string, 'settled' | 'unsure'>();

  clone(): Model {
    const copy = new Model();
    for (const [place, record] of this.records) copy.records.set(place, record);
    for (const [userId, roles] of this.instanceRoles) copy.instanceRoles.set(userId, roles);
    for (const [id, token] of this.tokens) copy.tokens.set(id, token);
    for (const [orgId, scope] of this.scopes) copy.scopes.set(orgId, scope);
    return copy;
  }

  find(ids: string, ...key: readonly string[]): ModelRecord | undefined {
    return this.records.get([ids, ...key].join(' '));
  }

  has(ids: string, ...key: readonly string[]): boolean {
    return this.find(ids, ...key) !== undefined;
  }

  owner(ids: string, ...key: readonly string[]): string | undefined {
    return this.find(ids, ...key)?.orgId;
  }

  loginNamesByDomain(orgId: string): boolean {
    return this.find('policy', orgId)?.json.userLoginMustBeDomain === true;
  }

  change(place: string, record: ModelRecord, changes: Partial<ModelRecord>): void {
    this.records.set(place, { ...record, ...changes, sequence: record.sequence + 1 });
  }

  /** Imports a file, and returns the outcome of each of its records (specification 6). */
  import(orgs: readonly Organisation[], options: Options): readonly Outcome[] {
    const entries = readFile(orgs);
    const seen = new Map<string, ModelRecord>();
    return phases.flatMap((phase) => {
      const organisations = new Map(entries.map((entry) => [entry.orgId, entry])).values();
      const nameless = phase === 0 ? [...organisations].flatMap((entry) => this.missingOrganisation(entry)) : [];
      const records = entries.flatMap((entry) =>
        entry.records.filter(({ section }) => kindOf(section).phase === phase),
      );
      if (phase === 2) this.settleScopes(records);
      const decided = records.map((record) => ({ record, kind: this.decide(record, options, seen) }));
      const nameTaken = this.withTakenNames(decided, options);
      return [
        ...nameless,
        ...decided.map(({ record, kind }) => this.apply(record, nameTaken.has(record) ? 'failed' : kind)),
      ];
    });
  }

  /** Decides a record as if names were free; the first of several with one key stands. */
  private decide(
    record: ModelRecord,
    { onConflict, withKeys }: Options,
    seen: Map<string, ModelRecord>,
  ): Outcome['kind'] {
    if (record.section === 'machineKeys' && !withKeys) return 'notCarried';
    const stored = this.records.get(placeOf(record));
    const first = seen.get(placeOf(record));
    if (first === undefined) seen.set(placeOf(record), record);
    if (record.section !== 'org' && !this.has('organisation', record.orgId)) return 'failed';
    if (first !== undefined && !isDeepStrictEqual(first, record)) return 'failed';
    const rejection = kindOf(record.section).rejects?.(record, this);
    if (rejection !== undefined) return rejection;
    if (first !== undefined && stored === undefined) {
      const isSingle = record.section === 'domainPolicy' && !this.changesScope(record);
      return isSingle ? 'unchanged' : 'failed';
    }
    if (stored === undefined) return this.changesScope(record) || this.isInForeignDomain(record) ? 'failed' : 'created';
    if (stored.orgId !== record.orgId || stored.section !== record.section) return 'failed';
    // Only what is overwritten keeps a state that the file does not have.
    if (isEqual(onConflict === 'overwrite' ? record : withState(record), stored)) return 'unchanged';
    if (onConflict === 'report' || this.changesScope(record)) return 'failed';
    if (onConflict === 'skip') return 'skipped';
    const keepsName = textAt(record, 'user.userName') === textAt(stored, 'user.userName');
    if (!keepsName && this.isInForeignDomain(record)) return 'failed';
    if (first === undefined) return 'overwritten';
    return record.section === 'domainPolicy' ? 'unchanged' : 'failed';
  }

  /** Whether a domain policy would change the scope of login names that exist (specification 6.3). */
  changesScope({ section, orgId, json }: ModelRecord): boolean {
    if (section !== 'domainPolicy') return false;
    const isOther = (json.userLoginMustBeDomain === true) !== this.loginNamesByDomain(orgId);
    return isOther && (this.has('policy', orgId) || this.scopes.has(orgId));
  }

  /** Settles the scope of login names of organisations whose users an import begins to write. */
  private settleScopes(records: readonly ModelRecord[]): void {
    const users = records.filter(
      ({ section, orgId }) => kindOf(section).ids === 'user' && this.has('organisation', orgId),
    );
    for (const { orgId } of users) this.scopes.set(orgId, 'settled');
  }

  users(orgId?: string): readonly ModelRecord[] {
    const all = [...this.records.values()].filter(({ section }) => kindOf(section).ids === 'user');
    return orgId === undefined ? all : all.filter((user) => user.orgId === orgId);
  }

  /** Whether a person's name ends in a domain that another organisation has verified (zitadel 3.4). */
  isInForeignDomain(record: ModelRecord): boolean {
    if (record.section !== 'humanUsers' || this.loginNamesByDomain(record.orgId)) return false;
    const [, domain] = /@([^@]*)$/.exec(textAt(record, 'user.userName')) ?? [];
    const verified = [...this.records.values()].find(
      (one) => nameOf(one, this) === domainName(domain ?? '').toLowerCase(),
    );
    return domain !== undefined && verified !== undefined && verified.orgId !== record.orgId;
  }

  /** The records whose name another record has, once all that can be written are: names may be exchanged. */
  withTakenNames(
    decided: readonly { readonly record: ModelRecord; readonly kind: Outcome['kind'] }[],
    { onConflict }: Options,
  ): ReadonlySet<ModelRecord> {
    const named = decided.filter(({ kind }) => kind === 'created' || kind === 'overwritten' || kind === 'skipped');
    const refused = new Set<ModelRecord>();
    for (let before = -1; before < refused.size; ) {
      before = refused.size;
      const accepted = named.filter(({ record, kind }) => kind !== 'skipped' && !refused.has(record));
      const names = new Map(accepted.map(({ record }) => [placeOf(record), nameOf(record, this)]));
      const holders = new Map<string | undefined, string>();
      for (const [place, record] of this.records) {
        const name = nameOf(record, this);
        if (!names.has(place) || names.get(place) === name) holders.set(name, place);
      }
      for (const { record, kind } of named) {
        const name = nameOf(record, this);
        const holder = holders.get(name) ?? placeOf(record);
        if (name === undefined || refused.has(record)) continue;
        if (holder !== placeOf(record)) refused.add(record);
        else if (kind !== 'skipped') holders.set(name, placeOf(record));
      }
      if (onConflict !== 'overwrite') break;
    }
    return refused;
  }

  private apply(record: ModelRecord, kind: Outcome['kind']): Outcome {
    const { section, orgId } = record;
    const place = placeOf(record);
    const stored = this.records.get(place);
    if (kind === 'created') this.records.set(place, withState(record));
    if (kind === 'overwritten' && stored !== undefined) this.change(place, stored, merged(record, stored));
    const isLost = section !== 'org' && !this.has('organisation', orgId);
    if (kind !== 'failed' || isLost) return { section, kind };
    const { type, id, key } = kindOf(section);
    return { section, kind, error: { type, id: (id ?? key).map((path) => textAt(record, path)).join('_') } };
  }

  private missingOrganisation({ orgId, hasName }: Entry): Outcome[] {
    if (hasName) return [];
    if (this.has('organisation', orgId)) return [{ section: 'org', kind: 'unchanged' }];
    return [{ section: 'org', kind: 'failed', error: { type: 'org', id: orgId } }];
  }

  /** Deletes a service user with everything that refers to it, in every organisation. */
  deleteServiceUser(userId: string): void {
    this.records.delete(`user ${userId}`);
    for (const [place, record] of this.referring(userId)) if (record !== undefined) this.records.delete(place);
    this.instanceRoles.delete(userId);
    for (const [id, token] of this.tokens) if (token.userId === userId) this.tokens.delete(id);
  }

  referring(userId: string): readonly [place: string, record: ModelRecord][] {
    return [...this.records].filter(([, record]) => {
      const path = kindOf(record.section).user;
      return path !== undefined && textAt(record, path) === userId;
    });
  }

  /** The status of a removal of an OTP e-mail factor (specification 4.1, 5). */
  removalStatus(callerId: string, userId: string): number {
    const caller = this.find('user', callerId);
    const blocked = ['USER_STATE_INACTIVE', 'USER_STATE_LOCKED'];
    if (caller === undefined || blocked.includes(textAt(caller, 'state'))) return 401;
    if (this.find('organisation', caller.orgId)?.json.orgState === 'ORG_STATE_INACTIVE') return 403;
    const user = this.find('user', userId);
    const member = this.find('orgMember', user?.orgId ?? '', callerId);
    const roles = [
      ...(this.instanceRoles.get(callerId) ?? []),
      ...(member === undefined ? [] : textsAt(member, 'roles')),
    ];
    if (callerId !== userId && !roles.some((role) => userWriters.has(role))) return 403;
    return user?.factor === true ? 200 : 404;
  }
}

/** Returns the name that a record holds, by which no other record may go; names are compared without regard to case. */
export function nameOf(record: ModelRecord, model: Model): string | undefined {
  return kindOf(record.section).name?.(record, model)?.toLowerCase();
}

/** Whether a record equals the stored one: what the file does not carry is not compared (specification 6.3). */
function isEqual(record: ModelRecord, stored: ModelRecord): boolean {
  const { json, hash, seed, factor } = merged(record, stored);
  const same = isDeepStrictEqual(json, stored.json);
  return same && hash === stored.hash && seed === stored.seed && factor === stored.factor;
}

/** A record with what it leaves to the stored one: its credentials, factor and state. */
function merged(record: ModelRecord, stored: ModelRecord): Omit<ModelRecord, 'sequence'> {
  const { hash = stored.hash, seed = stored.seed } = record;
  const { section, orgId, factor } = record;
  const { state, orgState } = stored.json;
  const kept = Object.entries({ state, orgState }).filter(([, value]) => value !== undefined);
  const json = { ...Object.fromEntries(kept), ...record.json };
  return { section, orgId, json, hash, seed, factor: factor || stored.factor };
}
