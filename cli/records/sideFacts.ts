// Stores facts about the records of each side that affect how an import stores other records. These facts are about
// primary domains, roles, actions, and project grants that imports ignore.

import type { TemporaryDatabase } from '../../shared/collections/temporaryDatabase.ts';
import { type JsonObject, putAt } from '../../shared/json/jsonObject.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { isGrantToItself, planReferences, recordKey } from '../../shared/organisation/recordPlan.ts';
import { lastPrimaryPath } from '../../shared/organisation/sections/domains.ts';
import { partialReferences } from '../../shared/organisation/sections/partialReferences.ts';
import { domainPolicySection, requiresValidation } from '../../shared/organisation/sections/policies.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { documentPath } from '../../shared/store/store.ts';

type Subject = Pick<OrganisationRecord, 'section' | 'json' | 'orgId'>;

/**
 * The collections of roles and actions. An import drops a reference to a missing role or action. It keeps the referring
 * record if at least one other reference remains.
 */
const partialTargets = new Set(Array.from(partialReferences.values(), ({ collection }) => collection));

const VALIDATES = 'validates domains';

export type Side = 'first' | 'second';

const TABLES = `
  CREATE TABLE marks (orgId TEXT, mark TEXT, side TEXT, path TEXT, PRIMARY KEY (orgId, mark, side)) STRICT, WITHOUT ROWID;
  CREATE TABLE partialTargets (path TEXT, side TEXT, PRIMARY KEY (path, side)) STRICT, WITHOUT ROWID;
  CREATE TABLE leftOut (path TEXT, side TEXT, PRIMARY KEY (path, side)) STRICT, WITHOUT ROWID`;
const MARK = 'INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)';
const KEEP_TARGET = 'INSERT OR IGNORE INTO partialTargets VALUES (?, ?)';
const LEAVE_OUT = 'INSERT OR IGNORE INTO leftOut VALUES (?, ?)';
const FIND_MARK = 'SELECT path FROM marks WHERE orgId = ? AND mark = ? AND side = ?';
const FIND_TARGET = 'SELECT 1 FROM partialTargets WHERE path = ?';
const FIND_LEFT_OUT = 'SELECT 1 FROM leftOut WHERE path = ? AND side = ?';

export class SideFacts {
  private readonly database: TemporaryDatabase;

  constructor(database: TemporaryDatabase) {
    this.database = database;
    database.create(TABLES);
  }

  /** Stores those facts about a record that affect other records. */
  note(record: OrganisationRecord, side: Side): void {
    const { section, json, orgId, invalid } = record;
    if (invalid !== undefined) return;
    if (partialTargets.has(section.collection)) this.database.run(KEEP_TARGET, documentPath(recordKey(record)), side);
    if (isGrantToItself(record)) this.database.run(LEAVE_OUT, documentPath(recordKey(record)), side);
    if (section === domainPolicySection && requiresValidation(json))
      this.database.run(MARK, orgId, VALIDATES, side, '');
    for (const mark of section.adjusted?.marks(json) ?? [])
      this.database.run(MARK, orgId, mark, side, documentPath(recordKey(record)));
  }

  reset(side: Side): void {
    for (const table of ['marks', 'partialTargets', 'leftOut'])
      this.database.run(`DELETE FROM ${table} WHERE side = ?`, side);
  }

  /** True if an import ignores a record because it refers to a project grant that imports ignore. */
  isLeftOut(record: Subject, side: Side): boolean {
    if (!mayBeLeftOut(record.section)) return false;
    return planReferences(record).some(
      ({ key }) => this.database.statement(FIND_LEFT_OUT).get(documentPath(key), side) !== undefined,
    );
  }

  /**
   * Returns the JSON of a record as an import stores it. Removes the primary mark from a domain if another domain of
   * the organisation becomes or remains primary. Drops references to roles and actions that neither side has, unless no
   * reference would remain.
   */
  asStored(record: Subject, side: Side): JsonObject {
    return this.withoutMissingTargets(this.adjusted(record, side));
  }

  private adjusted(record: Subject, side: Side): Subject {
    const { section, json, orgId } = record;
    if (section.adjusted === undefined) return record;
    const path = documentPath(recordKey(record));
    // If the second side already has a primary domain, an import of the first side does not change which domain is
    // primary.
    const stored =
      side === 'first' ? lastPrimaryPath({ get: (mark) => this.pathOf(orgId, mark, 'second') }) : undefined;
    const isLast = (mark: string) => this.pathOf(orgId, mark, side) === path;
    const validatesDomains = (['first', 'second'] as const).some(
      (either) => this.pathOf(orgId, VALIDATES, either) !== undefined,
    );
    const keepsField =
      stored === undefined
        ? section.adjusted.adjust(json, isLast, { validatesDomains })?.warning === undefined
        : stored === path;
    return keepsField ? record : { ...record, json: withValue(json, section.adjusted.field) };
  }

  private pathOf(orgId: string, mark: string, side: Side): string | undefined {
    const path = this.database.statement(FIND_MARK).get(orgId, mark, side)?.path;
    return typeof path === 'string' ? path : undefined;
  }

  private withoutMissingTargets(record: Subject): JsonObject {
    const partial = partialReferences.get(record.section);
    if (partial === undefined) return record.json;
    const targets = planReferences(record).filter(({ reference }) => reference.collection === partial.collection);
    const kept = targets.filter(({ key }) => this.database.statement(FIND_TARGET).get(documentPath(key)) !== undefined);
    if (kept.length === 0 || kept.length === targets.length) return record.json;
    return withValue(
      record.json,
      partial.field,
      kept.map(({ targetId }) => targetId),
    );
  }
}

/** Whether records of a section can change the result of comparing other records. */
export function affectsOthers({ collection, adjusted, references = [], ...section }: Section): boolean {
  return (
    partialTargets.has(collection) ||
    section.name === domainPolicySection.name ||
    adjusted !== undefined ||
    references.some(({ ifOwn }) => ifOwn !== undefined)
  );
}

function mayBeLeftOut({ references = [] }: Section): boolean {
  return references.some(({ collection }) => collection === 'projectGrants');
}

function withValue(json: JsonObject, field: string, value?: unknown): JsonObject {
  const copy = structuredClone(json);
  putAt(copy, field, value);
  return copy;
}
