import { defined } from '../../shared/defined.ts';
import { stateWord } from '../../shared/errors/nouns.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { organisationSection } from '../../shared/organisation/allSections.ts';
import {
  differingHash,
  isActivated,
  isAddressVerified,
  peopleInZitadel,
  refusedHash,
  stateInZitadel,
  unverifiedHash,
} from '../../shared/organisation/sections/peopleInZitadel.ts';
import { humanUserSection, personCredentials } from '../../shared/organisation/sections/users.ts';
import { importLoss } from '../../shared/organisation/zitadelFacts.ts';
import { allReleases, overlap, type ReleaseRange, refusingHashes } from '../../shared/organisation/zitadelReleases.ts';
import { accepts } from '../exports/placeInterfaces.ts';
import { meterOfRecords } from '../exports/trackTransfer.ts';
import type { RecordContent } from '../records/comparedRecord.ts';
import type { NamedPeople } from '../records/equalRecords.ts';
import type { ComparedPair, RunDatabase } from '../records/runDatabase.ts';
import { MAX_EXAMPLES } from '../terminal/numberTexts.ts';
import { trackPhase } from '../terminal/progress.ts';
import type { MigrationRun } from './migrationRun.ts';
import type { CredentialSummary } from './migrationTypes.ts';
import type { OpenSide } from './openSides.ts';
import type { MigrationSettings } from './settings.ts';

/** The people of an organisation who have a password in the source, and whose credentials are equal in the target. */
interface OrganisationCredentials {
  /**
   * Why the people of this organisation do not count as equal, for example because the organisation is inactive.
   * Undefined if they count.
   */
  reason?: string;
  readonly kept: NamedPeople;
}

interface CredentialTarget {
  readonly zitadel?: ReleaseRange | undefined;
  /**
   * Outcomes of the comparison. If a record has such an outcome, the import will make the target's record equal to the
   * source's record. Absent if the import has ended.
   */
  readonly arrives?: readonly ComparedPair['outcome'][];
  /**
   * Whether the import sends or omits the password hashes because of which ZITADEL can reject people. Absent if ZITADEL
   * accepts all hashes, or if the import has ended.
   */
  readonly hashes?: keyof typeof refusedHash | undefined;
}

const { password, totp } = personCredentials;

/**
 * Counts the people whose password, second factors and state are equal in source and target. If the target is ZITADEL,
 * counts only active people whose hash ZITADEL verifies with its default settings. Lists all other people by reason.
 */
export class CredentialTally {
  private readonly target: CredentialTarget;
  private people = 0;
  private withPassword = 0;
  /** The number of people whom the target may reject because of their password hashes. */
  refused = 0;
  private readonly organisations = new Map<string, OrganisationCredentials>();
  private readonly others = new Map<string, NamedPeople>();

  constructor(target: CredentialTarget) {
    this.target = target;
  }

  addPair({ section, orgId, id, outcome, first, second }: ComparedPair): void {
    const target = this.target.arrives?.includes(outcome) === true ? arriving(first, second) : second;
    if (section === organisationSection.name) this.addOrganisation(orgId, first, target);
    if (section === humanUserSection.name) this.addPerson({ orgId, id }, first, target);
  }

  /** Adds people whose records have the same bytes in two instances of this service. */
  addEqual(orgId: string, people: number, withPassword: NamedPeople): void {
    this.people += people;
    this.withPassword += withPassword.count;
    add(this.organisation(orgId).kept, withPassword);
  }

  /**
   * The counts of people. They are complete only after all records were added. The reason is that an organisation's
   * record comes after its people, and that the organisation's state decides whether its people count.
   */
  get credentials(): Omit<CredentialSummary, 'secondFactors'> {
    const others = new Map(
      [...this.others].map(([reason, { count, names }]) => [reason, { count, names: [...names] }]),
    );
    let kept = 0;
    for (const organisation of this.organisations.values()) {
      if (organisation.reason === undefined) kept += organisation.kept.count;
      else if (organisation.kept.count > 0) addTo(others, organisation.reason, organisation.kept);
    }
    const { people, withPassword } = this;
    const sorted = [...others].toSorted(([, a], [, b]) => b.count - a.count);
    return { people, withPassword, kept, others: sorted.map(([reason, group]) => ({ reason, ...group })) };
  }

  private addOrganisation(orgId: string, first: RecordContent, target: RecordContent | undefined): void {
    const states = [first, target ?? first].map(({ state }) => state?.value ?? '');
    const reason = this.stateReason(states);
    if (reason !== undefined) this.organisation(orgId).reason = `of an organisation that is ${reason}`;
  }

  private addPerson(
    { orgId, id }: Pick<ComparedPair, 'orgId' | 'id'>,
    source: RecordContent,
    target: RecordContent | undefined,
  ): void {
    this.people++;
    const hasPassword = source.hashFormat !== undefined || source.secrets[password.clear] !== undefined;
    const reason = hasPassword ? this.reason(source, target) : this.additionalReason(source, target);
    if (hasPassword) this.withPassword++;
    else if (reason === undefined) return;
    if (reason === refusedHash.sent) this.refused++;
    const person = { count: 1, names: [textAt(parseObject(source.body), 'user.userName', id)] };
    if (reason === undefined) add(this.organisation(orgId).kept, person);
    else addTo(this.others, reason, person);
  }

  private get isZitadel(): boolean {
    return this.target.zitadel !== undefined;
  }

  private organisation(orgId: string): OrganisationCredentials {
    const organisation = this.organisations.get(orgId) ?? { kept: { count: 0, names: [] } };
    this.organisations.set(orgId, organisation);
    return organisation;
  }

  /** Returns why a person's credentials do not count as equal; undefined if they do. */
  private reason(source: RecordContent, target: RecordContent | undefined): string | undefined {
    if (target === undefined) return 'missing from their organisation in the target';
    const { zitadel, hashes } = this.target;
    if (target === source && source.isHashRefused === true && hashes !== undefined) return refusedHash[hashes];
    const states = [source, target].map(({ state }) => state?.value ?? '');
    if (zitadel !== undefined && target === source)
      states[1] = stateInZitadel(states[1], isAddressVerified(source.body), true);
    return this.stateReason(states) ?? this.passwordReason(source, target) ?? this.factorReason(source, target);
  }

  /**
   * For a person without a password in the source, returns why the person's credentials differ in the target. Returns
   * undefined if they do not differ, or if the target does not have the person.
   */
  private additionalReason(source: RecordContent, target: RecordContent | undefined): string | undefined {
    if (target?.hashFormat !== undefined) return 'with a password in the target only';
    return target && this.factorReason(source, target);
  }

  private passwordReason(source: RecordContent, target: RecordContent): string | undefined {
    const { hashFormat } = source;
    if (hashFormat === undefined)
      return 'with a clear password, which is not compared, because the target stores only its hash';
    if (target.hashFormat === undefined) return 'without a password in the target';
    if (source.secrets[password.path] !== target.secrets[password.path])
      return this.isZitadel ? differingHash : 'with another password in the target';
    return this.isZitadel ? unverifiedHash(hashFormat) : undefined;
  }

  private factorReason(source: RecordContent, target: RecordContent): string | undefined {
    const [seed, targetSeed] = [source.secrets[totp.path], target.secrets[totp.path]];
    if (seed !== targetSeed) {
      if (targetSeed === undefined) return 'without the TOTP seed in the target';
      return seed === undefined ? 'with a TOTP seed in the target only' : 'with another TOTP seed in the target';
    }
    const { zitadel } = this.target;
    if (zitadel === undefined) return emailFactorReason(source, target);
    if (source.isSeedUnusable) return 'with a TOTP seed that no authenticator app can use';
    const lost = importLoss(peopleInZitadel, 'otpEmail', zitadel);
    return source.otpEmail === true && lost !== undefined ? `with an OTP e-mail factor: ${lost}` : undefined;
  }

  /** @param states the states in the source and the target, such as USER_STATE_LOCKED */
  private stateReason(states: readonly string[]): string | undefined {
    const [source, target = ''] = states.map(stateWord);
    const isKept = this.isZitadel ? isActivated(states[0], states[1]) : source === target;
    if (isKept) return undefined;
    return source === target ? `${target}, as in the source` : `${target} in the target, ${source} in the source`;
  }
}

function emailFactorReason({ otpEmail: source = false }: RecordContent, { otpEmail: target = false }: RecordContent) {
  if (source === target) return undefined;
  return source ? 'without the OTP e-mail factor in the target' : 'with an OTP e-mail factor in the target only';
}

/**
 * Returns the content that a person's record will have in the target after an overwriting import. If the export lacks a
 * credential, the target keeps its own. But if the export proves that the source does not have the credential, the
 * target loses it.
 */
function arriving(first: RecordContent, second: RecordContent | undefined): RecordContent {
  if (second === undefined) return first;
  const kept = Object.entries(second.secrets).filter(([path]) => first.lacks?.includes(path) !== true);
  const secrets = { ...Object.fromEntries(kept), ...first.secrets };
  const { hashFormat = second.hashFormat, otpEmail = second.otpEmail } = first;
  return {
    ...first,
    secrets,
    ...defined({ hashFormat: secrets[password.path] && hashFormat, otpEmail }),
  };
}

function addTo(groups: Map<string, NamedPeople>, reason: string, added: NamedPeople): void {
  const group = groups.get(reason) ?? { count: 0, names: [] };
  groups.set(reason, group);
  add(group, added);
}

function add(group: NamedPeople, { count, names }: NamedPeople): void {
  group.count += count;
  group.names.push(...names.slice(0, MAX_EXAMPLES - group.names.length));
}

/**
 * Returns undefined if the target is a file, because a migration does not compare files.
 * @param planned the options of the import. Undefined after the import
 */
export async function countCredentials(
  { database, signal, output, exported }: MigrationRun,
  { place, kind, facts }: OpenSide,
  planned?: Pick<MigrationSettings, 'onConflict' | 'accepted'>,
): Promise<CredentialTally | undefined> {
  if (place.takes === 'files') return undefined;
  const zitadel = kind === 'zitadel' ? (facts?.releases ?? allReleases) : undefined;
  const tally = new CredentialTally(planned === undefined ? { zitadel } : { zitadel, ...expected(planned, zitadel) });
  const { counts } = exported.inspection.tally;
  const expectedTotal = { total: tallied.reduce((sum, name) => sum + (counts[name] ?? 0), 0) };
  let records = 0;
  await trackPhase(
    output,
    'comparing credentials',
    meterOfRecords(() => ({ records, ...expectedTotal })),
    async () => {
      for await (const counted of tallyRecords(tally, database, signal)) records += counted;
    },
  );
  return tally;
}

const tallied = [humanUserSection.name, organisationSection.name];

/** Adds all people and organisations to the tally. After each addition, yields the number of added records. */
export async function* tallyRecords(
  tally: CredentialTally,
  database: Pick<RunDatabase, 'pairs' | 'equal'>,
  signal: AbortSignal,
): AsyncGenerator<number, void, void> {
  for await (const pair of database.pairs(signal, tallied)) {
    tally.addPair(pair);
    yield 1;
  }
  for (const [orgId, { counts, withPassword }] of database.equal.organisations) {
    const people = counts[humanUserSection.name] ?? 0;
    tally.addEqual(orgId, people, withPassword);
    yield people;
  }
}

function expected(
  planned: Pick<MigrationSettings, 'onConflict' | 'accepted'>,
  zitadel: ReleaseRange | undefined,
): Pick<CredentialTarget, 'arrives' | 'hashes'> {
  const mayRefuse = zitadel !== undefined && overlap(refusingHashes, zitadel);
  return {
    arrives: planned.onConflict === 'overwrite' ? ['onlyFirst', 'different'] : ['onlyFirst'],
    hashes: accepts(planned, 'refused-hashes') ? 'omitted' : mayRefuse ? 'sent' : undefined,
  };
}
