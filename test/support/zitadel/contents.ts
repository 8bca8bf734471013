import { randomInt } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../shared/json/jsonObject.ts';
import { keepsOwner, type ZitadelBehaviour } from './behaviour.ts';
import { type EventDraft, EventLog } from './eventLog.ts';

/** A record of the stand-in, and the time at which its exports start to show it. */
interface Stored {
  readonly json: JsonObject;
  readonly visibleAt: number;
}

/** An organisation of the stand-in. */
export interface Organisation {
  readonly orgId: string;
  readonly name: string;
  readonly state: string;
  readonly visibleAt: number;
  /** Records by section and key. */
  readonly sections: Map<string, Map<string, Stored>>;
}

/** The content of a stand-in for ZITADEL. */
export class Contents {
  readonly organisations: Map<string, Organisation>;
  /** The deleted ids of organisations and of their users. They cannot be used again. */
  readonly deletedIds: Set<string>;
  /** The organisations of users, by the users' ids. */
  readonly users: Map<string, string>;
  /**
   * The ids of users by login name. The key includes the organisation's id if its domain policy requires unique names
   * within it.
   */
  private readonly loginNames: Map<string, string>;
  /** The ids of people with the OTP e-mail factor, which ZITADEL's imports and exports do not contain. */
  readonly otpEmail: Set<string>;
  /** The ids of users whose last event the search skips, so that it shows them as active. */
  readonly passedOver: Set<string>;
  readonly log: EventLog;
  /** The longest time for which exports do not show written records. */
  private readonly lagMs: number;
  private readonly now: () => number;
  private readonly behaviour: Pick<ZitadelBehaviour, 'release'>;

  /** @param earlier the content to copy; by default, there is none */
  constructor(behaviour: Pick<ZitadelBehaviour, 'lagMs' | 'now' | 'release'>, earlier?: Contents) {
    this.organisations = structuredClone(earlier?.organisations ?? new Map());
    this.deletedIds = new Set(earlier?.deletedIds);
    this.users = new Map(earlier?.users);
    this.loginNames = new Map(earlier?.loginNames);
    this.otpEmail = new Set(earlier?.otpEmail);
    this.passedOver = new Set(earlier?.passedOver);
    this.log = new EventLog(earlier?.log);
    this.lagMs = behaviour.lagMs;
    this.now = behaviour.now;
    this.behaviour = behaviour;
  }

  /** Appends the events of one write to the log. */
  append(owner: string, drafts: readonly EventDraft[], editorId = 'SYSTEM'): void {
    this.log.append(drafts, { owner, editorId, keepsOwner: keepsOwner(this.behaviour.release) });
  }

  /** Adds the OTP e-mail factor of a person, or removes it. */
  setOtpEmail(userId: string, isSet: boolean): void {
    if (isSet) this.otpEmail.add(userId);
    else this.otpEmail.delete(userId);
    const type = `user.human.mfa.otp.email.${isSet ? 'added' : 'removed'}`;
    this.append(this.users.get(userId) ?? '', [{ aggregateType: 'user', aggregateId: userId, type }], userId);
  }

  create(orgId: string, name: string, state: string): Organisation {
    const organisation = { orgId, name, state, visibleAt: this.nextVisible(), sections: new Map() };
    this.organisations.set(orgId, organisation);
    return organisation;
  }

  find(orgId: string, section: string, key: string): JsonObject | undefined {
    return this.organisations.get(orgId)?.sections.get(section)?.get(key)?.json;
  }

  put(orgId: string, section: string, key: string, json: JsonObject): void {
    const sections = this.organisations.get(orgId)?.sections;
    const records = sections?.get(section) ?? new Map<string, Stored>();
    records.set(key, { json, visibleAt: this.nextVisible() });
    sections?.set(section, records);
  }

  /** Returns the records of a section that exports and searches show. */
  visible(orgId: string, section: string): JsonObject[] {
    const records = [...(this.organisations.get(orgId)?.sections.get(section)?.values() ?? [])];
    return records.filter((record) => this.isVisible(record)).map(({ json }) => json);
  }

  /** Whether exports and searches show a record or an organisation. */
  isVisible({ visibleAt }: Pick<Stored, 'visibleAt'>): boolean {
    return visibleAt <= this.now();
  }

  /** @param scope the organisation in which the name is unique; empty for the instance */
  isLoginNameTaken(name: string, scope: string): boolean {
    return this.users.has(this.loginNames.get(loginNameKey(name, scope)) ?? '');
  }

  takeLoginName(name: string, scope: string, userId: string): void {
    this.loginNames.set(loginNameKey(name, scope), userId);
  }

  delete(orgId: string): void {
    for (const [userId, owner] of this.users) {
      if (owner !== orgId) continue;
      this.users.delete(userId);
      this.deletedIds.add(userId);
    }
    this.organisations.delete(orgId);
    this.deletedIds.add(orgId);
    this.append(orgId, [{ aggregateType: 'org', aggregateId: orgId, type: 'org.removed' }]);
  }

  /** Deletes a record whose id is that of an aggregate. */
  remove(orgId: string, section: 'humanUsers' | 'machineUsers' | 'projects' | 'actions', id: string): void {
    const type = { humanUsers: 'user', machineUsers: 'user', projects: 'project', actions: 'action' }[section];
    this.organisations.get(orgId)?.sections.get(section)?.delete(id);
    if (type === 'user') this.users.delete(id);
    this.append(orgId, [{ aggregateType: type, aggregateId: id, type: `${type}.removed` }]);
  }

  /** Whether any organisation has a record. */
  holds(section: string, key: string): boolean {
    return [...this.organisations.values()].some(({ sections }) => sections.get(section)?.has(key) === true);
  }

  /** Returns the organisation of a project; undefined for an unknown project. */
  ownerOfProject(projectId: string): string | undefined {
    return [...this.organisations.values()].find(({ sections }) => sections.get('projects')?.has(projectId))?.orgId;
  }

  private nextVisible(): number {
    return this.now() + this.lagMs;
  }
}

function loginNameKey(name: string, scope: string): string {
  return JSON.stringify([name.toLowerCase(), scope]);
}

/** Returns an id in ZITADEL's form. */
export function newId(): string {
  return `4${String(randomInt(10 ** 14)).padStart(17, '0')}`;
}

/** Returns the elements of a list. Returns a single object as a list. */
export function elements(value: unknown): JsonObject[] {
  return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
}
