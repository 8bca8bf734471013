// Differences that ZITADEL causes, with their reasons, by the facts of the sections.

import { isDeepStrictEqual } from 'node:util';
import type { RecordContent } from '../../shared/exportFile/comparedRecord.ts';
import type { RecordDifference } from '../../shared/exportFile/runDatabase.ts';
import { isJsonObject, parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import type { FieldDifference } from '../../shared/organisation/equality.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import { refusedHash } from '../../shared/organisation/sections/peopleInZitadel.ts';
import { personCredentials } from '../../shared/organisation/sections/users.ts';
import { type DifferingValues, type FieldFact, NO_PROVIDER } from '../../shared/organisation/zitadelFacts.ts';
import type { FileLosses } from './fileLosses.ts';

/** The side of a comparison that is ZITADEL, and facts about it. */
export interface ZitadelSide {
  readonly side: 'first' | 'second';
  /** Its domains, from which it derives those of organisations. */
  readonly domains: readonly string[];
  /** The records of the other side that it could not import, if they were imported into it. */
  readonly losses?: FileLosses;
}

/** ZITADEL's exports omit writes of the last 2 s. */
export const LAG_MS = 2_000;

const CLEAR_PASSWORD = 'an import stores the hash of a clear password';

/** Whether ZITADEL imports a record, and its exports never have it. */
export function isNeverExported(record: Pick<RecordDifference, 'section' | 'id'>): boolean {
  return unexportedReason(record) !== undefined;
}

function unexportedReason({ section, id }: Pick<RecordDifference, 'section' | 'id'>): string | undefined {
  const { records = [] } = recordSection(section).zitadel ?? {};
  return records.find((fact) => fact.does === 'exports not' && (fact.when?.(id) ?? true))?.text;
}

/**
 * Returns the reason of a difference that ZITADEL on one side causes; undefined for an unexpected difference. Every
 * differing field must have a reason.
 * @param first the record on the first side, if it exists
 */
export function zitadelReason(
  difference: RecordDifference,
  zitadel: ZitadelSide,
  first?: RecordContent,
): string | undefined {
  const { outcome, section, fields = [] } = difference;
  const changed = recordSection(section).zitadel?.records?.find(({ does }) => does === 'changes');
  if (changed !== undefined) return changed.text;
  if (outcome !== 'different')
    return isOnlyIn(zitadel, outcome) ? addedReason(difference, zitadel) : lostReason(difference, zitadel, first);
  const reasons = fields.map((field) => fieldReason(difference, field, zitadel));
  return reasons.every((reason) => reason !== undefined) ? [...new Set(reasons)].join('; ') : undefined;
}

function isOnlyIn({ side }: ZitadelSide, outcome: 'onlyFirst' | 'onlySecond'): boolean {
  return (side === 'first') === (outcome === 'onlyFirst');
}

function addedReason({ section, id }: RecordDifference, { domains, side }: ZitadelSide): string | undefined {
  const { records = [] } = recordSection(section).zitadel ?? {};
  return records.find((fact) => fact.does === 'adds' && fact.when(id, { domains, isTarget: side === 'second' }))?.text;
}

function lostReason(lost: RecordDifference, { losses }: ZitadelSide, first?: RecordContent): string | undefined {
  const { records = [], missingProviders } = recordSection(lost.section).zitadel ?? {};
  const never = records.find((fact) => fact.does === 'imports not' && fact.when === undefined)?.text;
  const reason = never ?? unexportedReason(lost) ?? losses?.reason(lost);
  if (reason !== undefined || losses === undefined || missingProviders === undefined || first === undefined)
    return reason;
  const idpId = textAt(parseObject(first.body), 'idpId', '');
  return idpId === '' || losses.hasProvider(lost.orgId, idpId) ? undefined : NO_PROVIDER;
}

function fieldReason(difference: RecordDifference, field: FieldDifference, zitadel: ZitadelSide): string | undefined {
  const { section, orgId } = difference;
  const { side, losses } = zitadel;
  if ('secret' in field) return secretReason(difference, field, zitadel);
  const values: DifferingValues = side === 'second' ? [field.first, field.second] : [field.second, field.first];
  const { missingProviders } = recordSection(section).zitadel ?? {};
  if (missingProviders !== undefined && field.path === 'idps')
    return losses !== undefined && lacksOnlyMissing(values, (id) => losses.hasProvider(orgId, id))
      ? NO_PROVIDER
      : undefined;
  const isTarget = losses !== undefined;
  const facts = fieldFacts(recordSection(section));
  return facts.find((fact) => fact.fields.includes(field.path) && isExplained(fact, values, isTarget))?.text;
}

/** Whether a fact explains a difference. None remains after a step that this command takes itself. */
function isExplained({ does, steps = [], explains }: FieldFact, values: DifferingValues, isTarget: boolean): boolean {
  if (does === 'refuses' || steps.some(({ byHand }) => byHand === true)) return false;
  return explains?.(values, { isTarget }) ?? values[1] === undefined;
}

function secretReason(
  { fields = [], ...record }: RecordDifference,
  { path, secret }: Extract<FieldDifference, { secret: unknown }>,
  { side, losses }: ZitadelSide,
): string | undefined {
  const { password } = personCredentials;
  const [onlyOther, onlyZitadel] = side === 'second' ? ['onlyFirst', 'onlySecond'] : ['onlySecond', 'onlyFirst'];
  const isHash = path === password.path;
  if (isHash && secret === onlyOther && losses?.lacksHash(record) === true) return refusedHash.omitted;
  const isMade = isHash && secret === onlyZitadel && fields.some((other) => other.path === password.clear);
  return isMade || path === password.clear ? CLEAR_PASSWORD : undefined;
}

/** Whether ZITADEL's login policy has all identity providers of the other side that the file has. */
function lacksOnlyMissing([other, zitadel]: DifferingValues, hasProvider: (id: string) => boolean): boolean {
  const kept = Array.isArray(other)
    ? other.filter((idp) => isJsonObject(idp) && hasProvider(textAt(idp, 'idpId', '')))
    : [];
  return isDeepStrictEqual(zitadel ?? [], kept);
}
