import type { RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import type { ComparedPair, PairVisitor } from '../../shared/exportFile/comparison.ts';
import { parseObject, textAt, valueAt } from '../../shared/json/jsonObject.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';
import { organisationSection } from '../../shared/organisation/sections.ts';
import { counted, firstOf, numberText, stateWord } from '../texts.ts';
import type { Logins } from './documents.ts';
import type { MigrationSettings } from './settings.ts';
import type { Side } from './sides.ts';

/** The people of an organisation who share a reason: their number, and the names of the first ones. */
interface Group {
  count: number;
  readonly names: string[];
}

/** The people of one organisation who have a password in the source. */
interface OrganisationLogins {
  /** Why nobody of it can log in. */
  reason?: string;
  readonly ready: Group;
}

/** Bounds the people who are named for each reason. */
const MAX_NAMES = 3;

/** What becomes of the password hashes for which a ZITADEL may refuse the person. */
type RefusedHashes = 'taken' | 'refused' | 'omitted';

const { password, totp } = personCredentials;

/** Counts the people who can log in at the target with the password of the source, and names the others by reason. */
export class LoginTally implements PairVisitor {
  private readonly isZitadel: boolean;
  private readonly importsStates: boolean;
  private readonly refusedHashes: RefusedHashes;
  private readonly arrives: ReadonlySet<ComparedPair['outcome']>;
  private people = 0;
  private withPassword = 0;
  private readonly organisations = new Map<string, OrganisationLogins>();
  private readonly others = new Map<string, Group>();

  /**
   * @param isZitadel whether the target is a ZITADEL
   * @param arrives the records that a planned import will make as they are in the source; none after it
   * @param importsStates whether the target imports states
   * @param refusedHashes what becomes of hashes that the target may refuse, in a plan
   */
  constructor(
    isZitadel: boolean,
    arrives: readonly ComparedPair['outcome'][] = [],
    importsStates = true,
    refusedHashes: RefusedHashes = 'taken',
  ) {
    this.refusedHashes = refusedHashes;
    this.isZitadel = isZitadel;
    this.importsStates = importsStates;
    this.arrives = new Set(arrives);
  }

  addPair({ section, orgId, id, outcome, first, second }: ComparedPair): void {
    const target = this.arrives.has(outcome) ? first : second;
    if (section === organisationSection.name) this.addOrganisation(orgId, first, target);
    if (section === humanUserSection.name) this.addPerson({ orgId, id }, first, target);
  }

  reset(): void {
    [this.people, this.withPassword] = [0, 0];
    this.organisations.clear();
    this.others.clear();
  }

  /** The figures that plan, result and report show. Organisations come after their people. */
  get logins(): Omit<Logins, 'secondFactors'> {
    const others = new Map(
      [...this.others].map(([reason, { count, names }]) => [reason, { count, names: [...names] }]),
    );
    let ready = 0;
    for (const organisation of this.organisations.values()) {
      if (organisation.reason === undefined) ready += organisation.ready.count;
      else if (organisation.ready.count > 0) addTo(others, organisation.reason, organisation.ready);
    }
    const { people, withPassword } = this;
    const sorted = [...others].toSorted(([, a], [, b]) => b.count - a.count);
    return { people, withPassword, ready, others: sorted.map(([reason, group]) => ({ reason, ...group })) };
  }

  private addOrganisation(orgId: string, first: RecordContent, target: RecordContent | undefined): void {
    const states = [first, target ?? first].map(({ body }) => textAt(parseObject(body), 'orgState', ''));
    if (!this.importsStates && target === first) states[1] = 'ORG_STATE_ACTIVE';
    const reason = stateReason(states);
    if (reason !== undefined) this.organisation(orgId).reason = `of an organisation that is ${reason}`;
  }

  private addPerson(
    { orgId, id }: Pick<ComparedPair, 'orgId' | 'id'>,
    source: RecordContent,
    target: RecordContent | undefined,
  ): void {
    this.people++;
    if (source.hashFormat === undefined && source.secrets[password.clear] === undefined) return;
    this.withPassword++;
    const person = parseObject(source.body);
    const reason = this.reason(source, target);
    const one = { count: 1, names: [textAt(person, 'user.userName', id)] };
    if (reason === undefined) add(this.organisation(orgId).ready, one);
    else addTo(this.others, reason, one);
  }

  private organisation(orgId: string): OrganisationLogins {
    const organisation = this.organisations.get(orgId) ?? { ready: { count: 0, names: [] } };
    this.organisations.set(orgId, organisation);
    return organisation;
  }

  /** Returns why a person cannot log in as before. */
  private reason(source: RecordContent, target: RecordContent | undefined): string | undefined {
    if (target === undefined) return 'not in their organisation of the target';
    if (target === source && source.isHashRefused === true && this.refusedHashes !== 'taken')
      return this.refusedHashes === 'omitted' ? WITHOUT_HASH : REFUSED;
    const states = [source, target].map(({ body }) => textAt(parseObject(body), 'state', ''));
    // What a plan lets arrive, a ZITADEL activates, or makes initial without a verified address (zitadel 4.6).
    const keepsState = this.importsStates && /_(?:INACTIVE|LOCKED)$/.test(states[1] ?? '');
    if (this.isZitadel && target === source && !keepsState)
      states[1] = valueAt(parseObject(source.body), 'user.email.isEmailVerified') === true ? 'ACTIVE' : 'INITIAL';
    return stateReason(states) ?? this.passwordReason(source, target) ?? this.factorReason(source, target);
  }

  private passwordReason(source: RecordContent, target: RecordContent): string | undefined {
    const { hashFormat } = source;
    if (hashFormat === undefined) return 'with a clear password, which the target hashes: not compared';
    if (target.hashFormat === undefined) return 'without a password in the target';
    if (source.secrets[password.path] !== target.secrets[password.path])
      return this.isZitadel
        ? 'with another hash in the target, of the same password since a login there or of another one'
        : 'with another password in the target';
    // By default ZITADEL verifies hashes of one format only.
    const isVerified = this.isZitadel ? hashFormat === 'bcrypt' : hashFormat !== 'unknown';
    return isVerified ? undefined : `with a hash that the target does not verify (${hashFormat})`;
  }

  private factorReason(source: RecordContent, target: RecordContent): string | undefined {
    const [seed, targetSeed] = [source.secrets[totp.path], target.secrets[totp.path]];
    if (seed !== targetSeed) {
      if (targetSeed === undefined) return 'without the TOTP seed in the target';
      return seed === undefined ? 'with a TOTP seed in the target only' : 'with another TOTP seed in the target';
    }
    if (source.isSeedUnusable) return 'with a TOTP seed that no authenticator app can use';
    if (source.otpEmail !== true) return undefined;
    if (this.isZitadel) return 'with an OTP e-mail factor, which ZITADEL does not import';
    return target.otpEmail === true ? undefined : 'without the OTP e-mail factor in the target';
  }
}

/** Why people do not log in as before, whose password hash a ZITADEL may refuse. */
export const REFUSED = 'with a password hash for which ZITADELs since June 2026 refuse the person';
const WITHOUT_HASH = 'imported without the password hash, for which the ZITADEL may refuse the person';

/** Returns the reason why people in states such as USER_STATE_LOCKED, in the source and in the target, cannot log in. */
function stateReason(states: readonly string[]): string | undefined {
  const [source, target = ''] = states.map(stateWord);
  // Who could not log in at the source does not log in as before.
  if (target === 'active' && (source === 'active' || source === 'initial')) return undefined;
  return source === target ? `${target}, as in the source` : `${target} in the target, ${source} in the source`;
}

function addTo(groups: Map<string, Group>, reason: string, added: Group): void {
  const group = groups.get(reason) ?? { count: 0, names: [] };
  groups.set(reason, group);
  add(group, added);
}

function add(group: Group, { count, names }: Group): void {
  group.count += count;
  group.names.push(...names.slice(0, MAX_NAMES - group.names.length));
}

/**
 * Creates the tally of a migration's target. A target that is a file makes no statement about logins.
 * @param planned how the planned import treats records that differ; absent after the import
 */
export function loginTally(
  { place, kind, facts }: Side,
  planned?: Pick<MigrationSettings, 'onConflict' | 'refusedHashes'>,
): LoginTally | undefined {
  if (place.takes === 'files') return undefined;
  const isZitadel = kind === 'zitadel';
  if (planned === undefined) return new LoginTally(isZitadel);
  const { onConflict, refusedHashes } = planned;
  const arrives = onConflict === 'overwrite' ? (['onlyFirst', 'different'] as const) : (['onlyFirst'] as const);
  const ofRefused = refusedHashes === 'omit' ? 'omitted' : facts?.refusesHashes === true ? 'refused' : 'taken';
  return new LoginTally(isZitadel, arrives, facts?.importsStates, isZitadel ? ofRefused : 'taken');
}

/** What is said of the factors that do not count. */
const uncounted: Readonly<Record<Logins['secondFactors'], string>> = {
  all: '',
  totp: ', by password and TOTP; other second factors do not move, and are not counted',
  none: ', by password; second factors do not move, and are not counted',
};

/** Says who can log in as before, and who cannot: the sentence, and a phrase for each reason. */
export function describeLogins({ people, withPassword, ready, secondFactors, others }: Logins) {
  const without = people - withPassword;
  const [all, some] = [counted(people, 'person'), counted(withPassword, 'person')];
  const have = without === 1 ? 'has' : 'have';
  const rest = without === 0 ? [] : [`${numberText(without)} of ${all} ${have} no password in the export`];
  const sentence = `${numberText(ready)} of ${some} with a password ${ready === 1 ? 'logs' : 'log'} in as before${uncounted[secondFactors]}`;
  return {
    sentence: [...(withPassword === 0 ? [] : [sentence]), ...rest].join('; '),
    reasons: others.map(({ reason, count, names }) => `${numberText(count)} ${reason}: ${firstOf(names, count)}`),
  };
}
