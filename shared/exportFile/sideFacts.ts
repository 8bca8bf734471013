// What the records of a side decide about its other records in an import: its primary domains and its roles.

import type { DatabaseSync } from 'node:sqlite';
import { type JsonObject, putAt } from '../json/jsonObject.ts';
import type { OrganisationRecord } from '../organisation/record.ts';
import { planReferences, recordKey } from '../organisation/recordPlan.ts';
import type { Section } from '../organisation/section.ts';
import { lastPrimaryPath } from '../organisation/sections/domains.ts';
import { ROLES, rolesFields } from '../organisation/sections/grants.ts';
import { domainPolicySection, requiresValidation } from '../organisation/sections/policies.ts';
import { documentPath } from '../store/store.ts';

type Subject = Pick<OrganisationRecord, 'section' | 'json' | 'orgId'>;

const VALIDATES = 'validates domains';

/** The facts of both sides of a comparison. */
export class SideFacts {
  private readonly statements;

  /** @param database a temporary database, which gets two tables */
  constructor(database: DatabaseSync) {
    database.exec(`
      CREATE TABLE marks (orgId TEXT, mark TEXT, isFirst INTEGER, path TEXT, PRIMARY KEY (orgId, mark, isFirst)) WITHOUT ROWID;
      CREATE TABLE roles (path TEXT, isFirst INTEGER, PRIMARY KEY (path, isFirst)) WITHOUT ROWID`);
    this.statements = {
      mark: database.prepare('INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)'),
      findMark: database.prepare('SELECT path FROM marks WHERE orgId = ? AND mark = ? AND isFirst = ?'),
      keepRole: database.prepare('INSERT OR IGNORE INTO roles VALUES (?, ?)'),
      findRole: database.prepare('SELECT 1 FROM roles WHERE path = ?'),
      clearMarks: database.prepare('DELETE FROM marks WHERE isFirst = ?'),
      clearRoles: database.prepare('DELETE FROM roles WHERE isFirst = ?'),
    };
  }

  /** Notes what a record decides about others. */
  note(record: OrganisationRecord, isFirst: boolean): void {
    const { section, json, orgId, invalid } = record;
    if (invalid !== undefined) return;
    const side = Number(isFirst);
    if (section.collection === ROLES) this.statements.keepRole.run(documentPath(recordKey(record)), side);
    if (section === domainPolicySection && requiresValidation(json))
      this.statements.mark.run(orgId, VALIDATES, side, '');
    for (const mark of section.adjusted?.marks(json) ?? [])
      this.statements.mark.run(orgId, mark, side, documentPath(recordKey(record)));
  }

  /** Forgets a side. */
  reset(isFirst: boolean): void {
    this.statements.clearMarks.run(Number(isFirst));
    this.statements.clearRoles.run(Number(isFirst));
  }

  /**
   * Returns a record's JSON as an import stores it: without a superseded primary domain, and without roles that neither
   * side has, if others remain.
   */
  asStored(record: Subject, isFirst: boolean): JsonObject {
    return this.withoutMissingRoles(this.adjusted(record, isFirst));
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

  private withoutMissingRoles(record: Subject): JsonObject {
    const field = rolesFields.get(record.section);
    if (field === undefined) return record.json;
    const roles = planReferences(record).filter(({ reference }) => reference.collection === ROLES);
    const kept = roles.filter(({ key }) => this.statements.findRole.get(documentPath(key)) !== undefined);
    if (kept.length === 0 || kept.length === roles.length) return record.json;
    return withValue(
      record.json,
      field,
      kept.map(({ targetId }) => targetId),
    );
  }
}

/** Whether other records decide what an import stores of a record. */
export function dependsOnOthers(section: Section): boolean {
  return section.adjusted !== undefined || rolesFields.has(section);
}

function withValue(json: JsonObject, field: string, value?: unknown): JsonObject {
  const copy = structuredClone(json);
  putAt(copy, field, value);
  return copy;
}
