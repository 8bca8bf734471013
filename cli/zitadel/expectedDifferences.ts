// Differences that a ZITADEL causes, with their reasons.

import { isDeepStrictEqual } from 'node:util';
import type { RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import type { RecordDifference } from '../../shared/exportFile/comparison.ts';
import { droppedSections, isClosed } from '../../shared/exportFile/leftToDoRules.ts';
import { isJsonObject, parseObject, textAt } from '../../shared/json/jsonObject.ts';
import type { FieldDifference } from '../../shared/organisation/equality.ts';
import type { SectionName } from '../../shared/organisation/section.ts';
import { personCredentials } from '../../shared/organisation/sections/users.ts';
import type { FileLosses } from './fileLosses.ts';

/** The side of a comparison that is a ZITADEL, and facts about it. */
export interface ZitadelSide {
  readonly side: 'first' | 'second';
  /** Its domains, from which it derives those of organisations. */
  readonly domains: readonly string[];
  /** The records of the other side that it could not take, if they were imported into it. */
  readonly losses?: FileLosses;
}

/** The values of a differing field: of the other side, and of the ZITADEL. */
type DifferingValues = readonly [other: unknown, zitadel: unknown];

interface DifferenceRule {
  readonly sections: readonly SectionName[];
  readonly paths: readonly string[];
  readonly reason: string;
  /** Whether the values are those that the reason explains; by default the ZITADEL has none. */
  readonly applies?: (values: DifferingValues, zitadel: ZitadelSide) => boolean;
}

const NOT_EXPORTED = 'no export of ZITADEL has this field';
/** A ZITADEL's exports omit writes of the last 2 s. */
export const LAG_MS = 2_000;
const INITIAL = 'ZITADEL makes people without password hash, or with an unverified e-mail address, initial';

const fieldRules: readonly DifferenceRule[] = [
  { sections: ['labelPolicy'], paths: ['themeMode'], reason: NOT_EXPORTED },
  {
    sections: ['loginPolicy'],
    paths: ['allowDomainDiscovery', 'disableLoginWithEmail', 'disableLoginWithPhone'],
    reason: NOT_EXPORTED,
  },
  {
    sections: ['humanUsers'],
    paths: ['user.passwordChangeRequired', 'user.requestPasswordlessRegistration'],
    reason: NOT_EXPORTED,
    applies: isFalseInZitadel,
  },
  {
    sections: ['humanUsers'],
    paths: ['otpEmail'],
    reason: 'ZITADEL does not import OTP e-mail factors',
    applies: (values, { losses }) => losses !== undefined && isFalseInZitadel(values),
  },
  { sections: ['humanUsers'], paths: ['otpEmail'], reason: 'the ZITADEL does not return its OTP e-mail factors' },
  { sections: ['machineUsers'], paths: ['user.accessTokenType'], reason: NOT_EXPORTED },
  { sections: ['oidcApps'], paths: ['app.backChannelLogoutUri', 'app.loginVersion'], reason: NOT_EXPORTED },
  { sections: ['loginTexts'], paths: ['linkingUserPromptText'], reason: NOT_EXPORTED },
  {
    sections: ['humanUsers'],
    paths: ['state'],
    reason: INITIAL,
    applies: ([other, zitadel]) => zitadel === 'USER_STATE_INITIAL' && !isClosedState(other),
  },
  {
    sections: ['humanUsers'],
    paths: ['state'],
    reason: 'ZITADEL activates an initial person with password hash and verified e-mail address',
    applies: ([other, zitadel]) => other === 'USER_STATE_INITIAL' && zitadel === 'USER_STATE_ACTIVE',
  },
  { sections: ['humanUsers'], paths: ['user.email.isEmailVerified'], reason: INITIAL },
  {
    sections: ['humanUsers', 'machineUsers'],
    paths: ['state'],
    reason: 'closed there in another way, because ZITADEL suspends nobody, and deactivates no initial person',
    applies: (states) => states.every(isClosedState),
  },
  {
    sections: ['domains'],
    paths: ['isVerified'],
    reason: 'ZITADEL verifies each domain that it imports',
    applies: ([other, zitadel]) => zitadel === true && other !== true,
  },
  { sections: ['domains'], paths: ['validationType'], reason: 'ZITADEL imports no validation type of domains' },
];

function isClosedState(state: unknown): boolean {
  return typeof state === 'string' && isClosed(state);
}

const WITHOUT_HASH =
  'imported without the password hash, for which ZITADELs since June 2026 refuse the person: --refused-hashes omit';
const CLEAR_PASSWORD = 'an import stores the hash of a clear password';

const NOT_CARRIED = 'ZITADEL does not import, or not export, these texts';
const textsNotCarried = new Set([...droppedSections, 'inviteUserMessages']);

const NO_FLOW = 'no export of ZITADEL has flows other than external and internal authentication';
/** Matches the ids of trigger actions of external and internal authentication. */
const EXPORTED_FLOW = /^(?:[13]|FLOW_TYPE_EXTERNAL_AUTHENTICATION)_/;

/** Whether a ZITADEL takes a record, and no export of it shows the record. */
export function isNeverExported({ section, id }: Pick<RecordDifference, 'section' | 'id'>): boolean {
  return section === 'inviteUserMessages' || (section === 'triggerActions' && !EXPORTED_FLOW.test(id));
}

const NO_PROVIDER = 'the file of the import into ZITADEL has no such identity provider';

/**
 * Returns the reason of a difference that a ZITADEL on one side causes; undefined for an unexpected difference. Every
 * differing field must have a reason.
 * @param first the record on the first side, if it exists
 */
export function zitadelReason(
  difference: RecordDifference,
  zitadel: ZitadelSide,
  first?: RecordContent,
): string | undefined {
  const { outcome, section, fields = [] } = difference;
  if (section === 'passwordlessRegistrationMessages')
    return 'ZITADEL exports the texts of claimed domains under the name of those of passwordless registration';
  if (outcome !== 'different')
    return isOnlyIn(zitadel, outcome) ? addedReason(difference, zitadel) : lostReason(difference, zitadel, first);
  const reasons = fields.map((field) => fieldReason(difference, field, zitadel));
  return reasons.every((reason) => reason !== undefined) ? [...new Set(reasons)].join('; ') : undefined;
}

function isOnlyIn({ side }: ZitadelSide, outcome: 'onlyFirst' | 'onlySecond'): boolean {
  return (side === 'first') === (outcome === 'onlyFirst');
}

function addedReason({ section, id }: RecordDifference, { domains, side }: ZitadelSide): string | undefined {
  if (section === 'domainPolicy' && side === 'second')
    return "the domain policy of the ZITADEL's instance applies, because the organisation has none";
  if (section === 'domains' && domains.some((domain) => id.endsWith(`.${domain}`)))
    return 'ZITADEL adds a domain to each organisation';
  return undefined;
}

function lostReason(lost: RecordDifference, { losses }: ZitadelSide, first?: RecordContent): string | undefined {
  if (textsNotCarried.has(lost.section)) return NOT_CARRIED;
  if (isNeverExported(lost)) return NO_FLOW;
  if (losses === undefined || lost.section !== 'userLinks' || first === undefined) return losses?.reason(lost);
  const idpId = textAt(parseObject(first.body), 'idpId', '');
  return losses.hasProvider(lost.orgId, idpId) ? undefined : NO_PROVIDER;
}

function fieldReason(difference: RecordDifference, field: FieldDifference, zitadel: ZitadelSide): string | undefined {
  const { section, orgId } = difference;
  const { side, losses } = zitadel;
  if ('secret' in field) return secretReason(difference, field, zitadel);
  const values: DifferingValues = side === 'second' ? [field.first, field.second] : [field.second, field.first];
  if (section === 'loginPolicy' && field.path === 'idps')
    return losses !== undefined && lacksOnlyMissing(values, (id) => losses.hasProvider(orgId, id))
      ? NO_PROVIDER
      : undefined;
  const isExplained = ({ sections, paths, applies = isMissingInZitadel }: DifferenceRule) =>
    sections.some((name) => name === section) && paths.includes(field.path) && applies(values, zitadel);
  return fieldRules.find(isExplained)?.reason;
}

function secretReason(
  { fields = [], ...record }: RecordDifference,
  { path, secret }: Extract<FieldDifference, { secret: unknown }>,
  { side, losses }: ZitadelSide,
): string | undefined {
  const { password } = personCredentials;
  const [onlyOther, onlyZitadel] = side === 'second' ? ['onlyFirst', 'onlySecond'] : ['onlySecond', 'onlyFirst'];
  const isHash = path === password.path;
  if (isHash && secret === onlyOther && losses?.lacksHash(record) === true) return WITHOUT_HASH;
  const isMade = isHash && secret === onlyZitadel && fields.some((other) => other.path === password.clear);
  return isMade || path === password.clear ? CLEAR_PASSWORD : undefined;
}

/** Whether a ZITADEL's login policy has all identity providers of the other side that the file has. */
function lacksOnlyMissing([other, zitadel]: DifferingValues, hasProvider: (id: string) => boolean): boolean {
  const kept = Array.isArray(other)
    ? other.filter((idp) => isJsonObject(idp) && hasProvider(textAt(idp, 'idpId', '')))
    : [];
  return isDeepStrictEqual(zitadel, kept);
}

function isFalseInZitadel([, zitadel]: DifferingValues): boolean {
  return zitadel === undefined || zitadel === false;
}

function isMissingInZitadel([, zitadel]: DifferingValues): boolean {
  return zitadel === undefined;
}
