// What the records of a side decide about its other records in an import: its primary domains, its roles and actions,
// and the project grants that no import carries.

import type { DatabaseSync } from 'node:sqlite';
import { type JsonObject, putAt } from '../json/jsonObject.ts';
import type { OrganisationRecord } from '../organisation/record.ts';
import { isGrantToItself, planReferences, recordKey } from '../organisation/recordPlan.ts';
import type { Section } from '../organisation/section.ts';
import { lastPrimaryPath } from '../organisation/sections/domains.ts';
import { partialReferences } from '../organisation/sections/partialReferences.ts';
import { domainPolicySection, requiresValidation } from '../organisation/sections/policies.ts';
import { documentPath } from '../store/store.ts';

type Subject = Pick<OrganisationRecord, 'section' | 'json' | 'orgId'>;

/** The collections of which records may miss some of their targets. */
const partialTargets = new Set(Array.from(partialReferences.values(), ({ collection }) => collection));

const VALIDATES = 'validates domains';

/** The facts of both sides of a comparison. */
export class SideFacts {
  private readonly statements;

  /** @param database a temporary database, which gets three tables */
  constructor(database: DatabaseSync) {
    database.exec(`
      CREATE TABLE marks (orgId TEXT, mark TEXT, isFirst INTEGER, path TEXT, PRIMARY KEY (orgId, mark, isFirst)) WITHOUT ROWID;
      CREATE TABLE targets (path TEXT, isFirst INTEGER, PRIMARY KEY (path, isFirst)) WITHOUT ROWID;
      CREATE TABLE leftOut (path TEXT, isFirst INTEGER, PRIMARY KEY (path, isFirst)) WITHOUT ROWID`);
    this.statements = {
      mark: database.prepare('INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)'),
      findMark: database.prepare('SELECT path FROM marks WHERE orgId = ? AND mark = ? AND isFirst = ?'),
      keepTarget: database.prepare('INSERT OR IGNORE INTO targets VALUES (?, ?)'),
      findTarget: database.prepare('SELECT 1 FROM targets WHERE path = ?'),
      leaveOut: database.prepare('INSERT OR IGNORE INTO leftOut VALUES (?, ?)'),
      findLeftOut: database.prepare('SELECT 1 FROM leftOut WHERE path = ? AND isFirst = ?'),
      clearMarks: database.prepare('DELETE FROM marks WHERE isFirst = ?'),
      clearTargets: database.prepare('DELETE FROM targets WHERE isFirst = ?'),
      clearLeftOut: database.prepare('DELETE FROM leftOut WHERE isFirst = ?'),
    };
  }

  /** Notes what a record decides about others. */
  note(record: OrganisationRecord, isFirst: boolean): void {
    const { section, json, orgId, invalid } = record;
    if (invalid !== undefined) return;
    const side = Number(isFirst);
    if (partialTargets.has(section.collection)) this.statements.keepTarget.run(documentPath(recordKey(record)), side);
    if (isGrantToItself(record)) this.statements.leaveOut.run(documentPath(recordKey(record)), side);
    if (section === domainPolicySection && requiresValidation(json))
      this.statements.mark.run(orgId, VALIDATES, side, '');
    for (const mark of section.adjusted?.marks(json) ?? [])
      this.statements.mark.run(orgId, mark, side, documentPath(recordKey(record)));
  }

  /** Forgets a side. */
  reset(isFirst: boolean): void {
    this.statements.clearMarks.run(Number(isFirst));
    this.statements.clearTargets.run(Number(isFirst));
    this.statements.clearLeftOut.run(Number(isFirst));
  }

  /** Whether no import carries a record of a side, because it refers to a grant of the side that none carries. */
  isLeftOut(record: Subject, isFirst: boolean): boolean {
    return planReferences(record).some(
      ({ key }) => this.statements.findLeftOut.get(documentPath(key), Number(isFirst)) !== undefined,
    );
  }

  /**
   * Returns a record's JSON as an import stores it: without a superseded primary domain, and without roles and
   * actions that neither side has, if others remain.
   */
  asStored(record: Subject, isFirst: boolean): JsonObject {
    return this.withoutMissingTargets(this.adjusted(record, isFirst));
  }

  private adjusted(record: Subject, isFirst: boolean): Subject {
    const { section, json, orgId } = record;
    if (section.adjusted === undefined) return record;
    const path = documentPath(recordKey(record));
    // An import of the first side keeps the primary domain of the second.
    const stored = isFirst ? lastPrimaryPath({ get: (mark) => this.pathOf(orgId, mark, false) }) : undefined;
    const isLast = (mark: string) => this.pathOf(orgId, mark, isFirst) === path;
    const validatesDomains = [true, false].some((side) => this.pathOf(orgId, VALIDATES, side) !== undefined);
    const keepsField =
      stored === undefined
        ? section.adjusted.adjust(json, isLast, { validatesDomains })?.warning === undefined
        : stored === path;
    return keepsField ? record : { ...record, json: withValue(json, section.adjusted.field) };
  }

  private pathOf(orgId: string, mark: string, isFirst: boolean): string | undefined {
    const path = this.statements.findMark.get(orgId, mark, Number(isFirst))?.path;
    return typeof path === 'string' ? path : undefined;
  }

  private withoutMissingTargets(record: Subject): JsonObject {
    const partial = partialReferences.get(record.section);
    if (partial === undefined) return record.json;
    const targets = planReferences(record).filter(({ reference }) => reference.collection === partial.collection);
    const kept = targets.filter(({ key }) => this.statements.findTarget.get(documentPath(key)) !== undefined);
    if (kept.length === 0 || kept.length === targets.length) return record.json;
    return withValue(
      record.json,
      partial.field,
      kept.map(({ targetId }) => targetId),
    );
  }
}

/** Whether other records decide what an import stores of a record. */
export function dependsOnOthers(section: Section): boolean {
  return section.adjusted !== undefined || partialReferences.has(section);
}

/** Whether records of a section refer to records that imports may not carry. */
export function mayBeLeftOut({ references = [] }: Section): boolean {
  return references.some(({ collection }) => collection === 'projectGrants');
}

function withValue(json: JsonObject, field: string, value?: unknown): JsonObject {
  const copy = structuredClone(json);
  putAt(copy, field, value);
  return copy;
}
