// Explains the differences that ZITADEL causes. The reasons come from facts about ZITADEL in the definitions of
// sections.

import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, parseObject, putAt, valueAt } from '../../shared/json/jsonObject.ts';
import { recordSection } from '../../shared/organisation/allSections.ts';
import type { FieldDifference } from '../../shared/organisation/equality.ts';
import { fieldFacts } from '../../shared/organisation/fieldFacts.ts';
import { refusedHash } from '../../shared/organisation/sections/peopleInZitadel.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { personCredentials } from '../../shared/organisation/sections/users.ts';
import type { DifferingValues, FieldFact } from '../../shared/organisation/zitadelFacts.ts';
import { overlap, type ReleaseRange } from '../../shared/organisation/zitadelReleases.ts';
import type { ImportFacts } from '../records/importFacts.ts';
import type { FirstRecord, RecordDifference } from '../records/runDatabase.ts';

export interface ZitadelSide {
  readonly side: 'first' | 'second';
  readonly releases: ReleaseRange;
  readonly domains: readonly string[];
  /** Facts about the import of the other side's records into this side. Undefined if there was no such import. */
  readonly imports?: Pick<ImportFacts, 'mayLackProvider' | 'target'>;
}

/** The time in milliseconds after which ZITADEL's exports usually contain a new record or change. */
export const LAG_MS = 2_000;

const CLEAR_PASSWORD = 'an import stores the hash of a clear password';

/** Whether ZITADEL imports a record, but might never export it. */
export function isNeverExported(record: Pick<RecordDifference, 'section' | 'id'>, releases: ReleaseRange): boolean {
  return unexportedReason(record, releases) !== undefined;
}

function unexportedReason(
  { section, id }: Pick<RecordDifference, 'section' | 'id'>,
  releases: ReleaseRange,
): string | undefined {
  return recordFacts(section, releases).find((fact) => fact.does === 'exports not' && (fact.when?.(id) ?? true))?.text;
}

/**
 * Returns the facts about the records of a section. Leaves out facts that apply to none of the given releases of
 * ZITADEL.
 */
function recordFacts(section: string, releases: ReleaseRange) {
  const { records = [] } = recordSection(section).zitadel ?? {};
  return records.filter((fact) => overlap(fact, releases));
}

/**
 * Returns undefined for an unexpected difference. If several fields of a record differ, the difference is expected only
 * if each field has a reason.
 * @param first the record of the first side; undefined if only the second side has it
 */
export function zitadelReason(
  difference: RecordDifference,
  zitadel: ZitadelSide,
  first?: FirstRecord,
): string | undefined {
  const { outcome, section, fields = [] } = difference;
  const changed = recordFacts(section, zitadel.releases).find(({ does }) => does === 'changes');
  if (changed !== undefined) return changed.text;
  if (outcome !== 'different')
    return isOnlyIn(zitadel, outcome) ? addedReason(difference, zitadel) : lostReason(difference, zitadel, first);
  const reasons = fields.map((field) => fieldReason(difference, field, zitadel, first));
  return reasons.every((reason) => reason !== undefined) ? [...new Set(reasons)].join('; ') : undefined;
}

function isOnlyIn({ side }: ZitadelSide, outcome: 'onlyFirst' | 'onlySecond'): boolean {
  return (side === 'first') === (outcome === 'onlyFirst');
}

function addedReason({ section, id }: RecordDifference, zitadel: ZitadelSide): string | undefined {
  const { domains, side, releases } = zitadel;
  const added = recordFacts(section, releases).filter((fact) => fact.does === 'adds');
  return added.find(({ when }) => when(id, { domains, isTarget: side === 'second' }))?.text;
}

function lostReason(lost: RecordDifference, { imports, releases }: ZitadelSide, first?: FirstRecord) {
  const facts = recordFacts(lost.section, releases);
  const never = facts.find((fact) => fact.does === 'imports not' && fact.when === undefined)?.text;
  const reason = never ?? unexportedReason(lost, releases);
  if (reason !== undefined || imports === undefined || first === undefined) return reason;
  if (first.loss !== undefined) return first.loss;
  const { exported, zitadel } = recordSection(lost.section);
  const providers = exported?.providers?.(parseObject(first.body)).filter((id) => id !== '') ?? [];
  return providers.some((id) => imports.mayLackProvider(lost.orgId, id)) ? zitadel?.missingProviders?.text : undefined;
}

function fieldReason(
  difference: RecordDifference,
  field: FieldDifference,
  zitadel: ZitadelSide,
  first: FirstRecord | undefined,
): string | undefined {
  const { side, imports, releases } = zitadel;
  if ('secret' in field) return secretReason(difference, field, zitadel, first);
  const section = recordSection(difference.section);
  const values: DifferingValues = side === 'second' ? [field.first, field.second] : [field.second, field.first];
  const mayLack = (id: string) => imports?.mayLackProvider(difference.orgId, id) === true;
  if (lacksProviders(section, field.path, values, mayLack)) return section.zitadel?.missingProviders?.text;
  const isTarget = imports !== undefined;
  const facts = fieldFacts(section).filter((fact) => fact.fields.includes(field.path) && overlap(fact, releases));
  return facts.find((fact) => isExplained(fact, values, isTarget))?.text;
}

/**
 * True if a fact about a field explains a difference. A fact explains nothing if the command itself takes a step that
 * reverses the fact's effect.
 */
function isExplained({ does, steps = [], explains }: FieldFact, values: DifferingValues, isTarget: boolean): boolean {
  if (does === 'refuses' || steps.some(({ byHand }) => byHand === true)) return false;
  return explains?.(values, { isTarget }) ?? values[1] === undefined;
}

function secretReason(
  { fields = [] }: RecordDifference,
  { path, secret }: Extract<FieldDifference, { secret: unknown }>,
  { side, imports }: ZitadelSide,
  first: FirstRecord | undefined,
): string | undefined {
  const { password } = personCredentials;
  const [onlyOther, onlyZitadel] = side === 'second' ? ['onlyFirst', 'onlySecond'] : ['onlySecond', 'onlyFirst'];
  const isHash = path === password.path;
  const isOmitted = imports?.target.omitsHashes === true && first?.isHashRefused === true;
  if (isHash && secret === onlyOther && isOmitted) return refusedHash.omitted;
  const isMade = isHash && secret === onlyZitadel && fields.some((other) => other.path === password.clear);
  return isMade || path === password.clear ? CLEAR_PASSWORD : undefined;
}

/**
 * True if a field lists identity providers, and the only difference is that ZITADEL's list lacks providers that ZITADEL
 * might not have.
 */
function lacksProviders(
  { exported: { providers, keepProviders } = {} }: Section,
  path: string,
  [other, zitadel]: DifferingValues,
  mayLack: (id: string) => boolean,
): boolean {
  if (providers === undefined || keepProviders === undefined) return false;
  const [expected, imported]: [JsonObject, JsonObject] = [{}, {}];
  putAt(expected, path, structuredClone(other));
  putAt(imported, path, zitadel);
  const present = new Set(providers(imported));
  keepProviders(expected, (id) => present.has(id) || !mayLack(id));
  return isDeepStrictEqual(valueAt(expected, path) ?? [], zitadel ?? []);
}
