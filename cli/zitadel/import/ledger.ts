import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ImportError } from '../../../functions/import/contract.ts';
import { BoundedList } from '../../../shared/collections/boundedList.ts';
import type { TemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { withoutEmpty } from '../../../shared/defined.ts';
import { recordNoun } from '../../../shared/errors/nouns.ts';
import { because, type Meaning, type RecordReason, recordIssues } from '../../../shared/errors/recordIssues.ts';
import { putAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection, recordSection, recordSections } from '../../../shared/organisation/allSections.ts';
import { type OrganisationRecord, toRecord } from '../../../shared/organisation/record.ts';
import { MAX_LISTED_ISSUES } from '../../../shared/organisation/recordErrors.ts';
import {
  planReferences,
  readableId,
  recordKey,
  referenceField,
  reportedId,
} from '../../../shared/organisation/recordPlan.ts';
import { type RecordIssue, reportedIssue } from '../../../shared/organisation/relations.ts';
import { type SectionName, zitadelSteps } from '../../../shared/organisation/sections/section.ts';
import { stateSources } from '../../../shared/organisation/states.ts';
import { temporaryKeyring } from '../../../shared/store/secrets/keyring.ts';
import { seal, unseal } from '../../../shared/store/secrets/masterKey.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import { noOutcomes, type OutcomeCounts } from '../../exports/importOutcomes.ts';
import { recordName } from '../../records/comparedRecord.ts';
import { noticeMessage } from '../../terminal/notices.ts';
import { named } from '../../terminal/numberTexts.ts';
import { isOwnReference } from '../ownership/idOwners.ts';
import { mustBeClosed } from './closable.ts';

/** `taken` means that another record in ZITADEL has the id. */
const targetState = z.enum(['missing', 'equal', 'different', 'taken']);
/**
 * The outcome of a record. `existing` and `sent` are preliminary outcomes, which the import replaces at its end.
 * `existing` means that ZITADEL reports the record as existing. `sent` means that ZITADEL has reported no error, but no
 * event shows the creation. If the import waits for a record and it never appears in ZITADEL's exports, its outcome
 * becomes `unconfirmed`.
 */
const outcome = z.enum([
  'created',
  'unchanged',
  'overwritten',
  'skipped',
  'failed',
  'notCarried',
  'unconfirmed',
  'existing',
  'sent',
]);
const settledOutcome = outcome.exclude(['existing', 'sent']);

type LedgerOutcome = z.infer<typeof outcome>;

const reason = z.custom<RecordReason>((name) => typeof name === 'string' && Object.hasOwn(recordIssues, name));
const ledgerIssue = z.object({
  reason,
  params: z.record(z.string(), z.string()).exactOptional(),
  message: z.string().exactOptional(),
  type: z.string().exactOptional(),
});
const issueList = z
  .string()
  .nullable()
  .transform((text) => (text === null ? [] : z.array(ledgerIssue).parse(JSON.parse(text))));

export interface LedgerIssue extends Meaning {
  /** ZITADEL's message. If undefined, the text follows from the reason. */
  readonly message?: string;
  /**
   * The type of the error if it is about a part of the record, such as a second factor. Otherwise, the type follows
   * from the record.
   */
  readonly type?: string;
}

const ledgerRow = z.object({
  position: z.int(),
  parent: z.int().nullable(),
  section: z.string(),
  orgId: z.string(),
  id: z.string(),
  found: targetState,
  foreseen: outcome,
  outcome: outcome.nullable(),
  issues: issueList,
  withheld: z.string().nullable(),
  wasDeleted: z.int(),
  key: z.instanceof(Uint8Array).nullable(),
  record: z.string(),
});
const documentRow = z.object({ position: z.int(), orgId: z.string(), section: z.string(), path: z.string() });
const countRow = z.object({ outcome: settledOutcome, section: z.string(), records: z.int() });
const targetRow = documentRow.extend({ field: z.string() });
const errorRow = z.object({ section: z.string(), id: z.string(), issues: issueList });
const progressRow = z.object({ records: z.int(), total: z.int() });
const idRow = ledgerRow.pick({ id: true });
const positionRow = ledgerRow.pick({ position: true });
const changesRow = z.object({ seeds: z.int(), closed: z.int() });
const recordContent = z.object({
  json: z.record(z.string(), z.unknown()),
  state: z.object({ value: z.string(), source: z.enum(stateSources) }).optional(),
  otpEmail: z.boolean().optional(),
});

export interface LedgerRecord
  extends Pick<
    z.infer<typeof ledgerRow>,
    'position' | 'id' | 'found' | 'foreseen' | 'outcome' | 'issues' | 'withheld' | 'key'
  > {
  /** Whether ZITADEL once had a record with this id and has deleted it. */
  readonly wasDeleted: boolean;
  /**
   * Whether the record is nested in another record of the file. The request then contains it as a part of that record.
   */
  readonly isHeld: boolean;
  readonly record: OrganisationRecord;
}

export interface LedgerEntry {
  readonly found?: LedgerRecord['found'];
  /** The outcome that the record will have if ZITADEL accepts it. A dry run reports this outcome. */
  readonly foreseen?: LedgerOutcome;
  /** The outcome of the record. Undefined if the import must still send the record. */
  readonly outcome: LedgerOutcome | undefined;
  /** Replaces the errors that the ledger contains for the record. */
  readonly issues?: readonly LedgerIssue[];
}

export type LedgerDocument = z.infer<typeof documentRow>;

type LedgerTarget = z.infer<typeof targetRow>;

const steps: ReadonlyMap<string, number> = new Map(
  recordSections.flatMap(({ name, zitadelStep }) =>
    zitadelStep === 'dropped' ? [] : [[name, zitadelSteps.indexOf(zitadelStep)] as const],
  ),
);

/**
 * Returns the position of a section in the order in which the import sends the sections. Returns undefined if ZITADEL
 * does not import the section.
 */
function stepOf(section: string): number | undefined {
  return steps.get(section);
}

const TABLE = `
  CREATE TABLE records (position INTEGER PRIMARY KEY, parent INTEGER, section TEXT, orgId TEXT, id TEXT, step INTEGER,
    key BLOB, found TEXT, foreseen TEXT, outcome TEXT, issues TEXT, withheld TEXT, closing TEXT, record TEXT,
    wasDeleted INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE documents (position INTEGER PRIMARY KEY, path TEXT) STRICT;
  CREATE TABLE targets (position INTEGER, path TEXT, field TEXT, isOwn INTEGER) STRICT;
  CREATE INDEX steps ON records (step, orgId, position);
  CREATE INDEX keys ON records (key);
  CREATE INDEX parents ON records (parent);
  CREATE INDEX closings ON records (position) WHERE closing = 'open';
  CREATE INDEX withheld ON records (position) WHERE withheld IS NOT NULL;
  CREATE INDEX paths ON documents (path);
  CREATE INDEX targetPaths ON targets (path);
  CREATE TABLE loginNames (digest BLOB PRIMARY KEY) STRICT, WITHOUT ROWID`;
const WITHHOLD_DEPENDENTS = `
  UPDATE records SET foreseen = 'failed', outcome = 'failed', withheld = lost.target,
    issues = json_array(json_object('reason', ?, 'params', json_object('target', lost.target)))
  FROM (
    SELECT targets.position AS position, min(holder.withheld) AS target
    FROM records AS holder INDEXED BY withheld
    JOIN documents ON documents.position = holder.position
    JOIN targets ON targets.path = documents.path
    JOIN records AS dependent ON dependent.position = targets.position
    WHERE holder.withheld IS NOT NULL AND (dependent.orgId = holder.orgId OR NOT EXISTS (
      SELECT 1 FROM documents AS other JOIN records AS kept ON kept.position = other.position
      WHERE other.path = documents.path AND kept.withheld IS NULL))
    GROUP BY targets.position) AS lost
  WHERE records.position = lost.position AND records.withheld IS NULL AND records.outcome IS NULL`;
/**
 * SQL statements that delete the outcomes of a dry run before the import. They keep the outcomes of invalid records and
 * their nested records, because the import never sends these records. They also keep `wasDeleted`, because events are
 * not read twice.
 */
const RESTART = [
  'DELETE FROM records WHERE orgId IS NULL',
  `UPDATE records SET found = 'missing', foreseen = 'created', outcome = NULL, issues = NULL, withheld = NULL,
    closing = iif(closing IS NULL, NULL, 'open') WHERE record IS NOT NULL`,
  'DELETE FROM loginNames',
];
const DEPENDENT = 'dependency_not_imported' satisfies RecordReason;
const COLUMNS = Object.keys(ledgerRow.shape).join(', ');
const ROWS_PER_PAGE = 500;

/**
 * The records of a file and their outcomes, in tables of the run's database. The records are encrypted, because the
 * disk blocks of a deleted file can be recovered. Only this process has the key.
 */
export class ImportLedger {
  private readonly keyring = temporaryKeyring();
  private readonly database: TemporaryDatabase;
  /**
   * `position` is the position of the last added record. `holder` is the position of the last added record that is not
   * nested.
   */
  private readonly last = { position: 0, holder: 0 };
  /** The positions of records that ZITADEL wrote into an organisation other than their own. */
  private readonly misplaced = new Set<number>();
  readonly elsewhere = new BoundedList<ImportError>(MAX_LISTED_ISSUES);
  /** The ids of organisations that ZITADEL has rejected, with all their records. */
  readonly refused = new Set<string>();

  constructor(database: TemporaryDatabase) {
    this.database = database;
    database.create(TABLE);
  }

  /**
   * The import will send the record unless it is invalid.
   * @param holder the record in which the record is nested
   * @param key the key of the record in the comparison with ZITADEL's records
   */
  add(record: OrganisationRecord, holder?: OrganisationRecord, key?: Uint8Array): void {
    const position = ++this.last.position;
    if (holder === undefined) this.last.holder = position;
    const parent = holder === undefined ? null : this.last.holder;
    if (record.invalid !== undefined) this.addInvalid(position, record, record.invalid);
    else if (holder?.invalid !== undefined) this.leaveOut(position, parent, record, 'notCarried');
    else this.addUnsent(position, parent, record, key);
  }

  private addUnsent(position: number, parent: number | null, record: OrganisationRecord, key?: Uint8Array): void {
    const { section, orgId } = record;
    const id = reportedId(record) || orgId;
    const sealed = seal(this.keyring.newest(), serialiseRecord(record), placeOf(position));
    const sql = `INSERT INTO records (position, parent, section, orgId, id, found, foreseen, key, record, step, closing)
      VALUES (?, ?, ?, ?, ?, 'missing', 'created', ?, ?, ?, ?)`;
    const [step, closing] = [stepOf(section.name) ?? null, mustBeClosed(record) ? 'open' : null];
    this.database.run(sql, position, parent, section.name, orgId, id, key ?? null, sealed, step, closing);
    if (parent === null) this.addRelations(position, record);
  }

  /** The import sends neither an invalid record nor records that refer to it. */
  private addInvalid(position: number, record: OrganisationRecord, invalid: RecordIssue): void {
    const id = readableId(record) ?? '';
    const issues = JSON.stringify([reportedIssue(invalid)]);
    this.leaveOut(position, null, record, 'failed');
    const sql = 'UPDATE records SET id = ?, issues = ?, withheld = ? WHERE position = ?';
    this.database.run(sql, id, issues, `${recordNoun(record.section.name)} ${id}`, position);
    this.database.run('INSERT INTO documents VALUES (?, ?)', position, documentPath(recordKey(record)));
  }

  private leaveOut(position: number, parent: number | null, record: OrganisationRecord, settled: LedgerOutcome): void {
    const { section, orgId } = record;
    const sql = `INSERT INTO records (position, parent, section, orgId, id, found, foreseen, outcome)
      VALUES (?, ?, ?, ?, ?, 'missing', ?, ?)`;
    this.database.run(sql, position, parent, section.name, orgId, reportedId(record), settled, settled);
  }

  private addRelations(position: number, record: OrganisationRecord): void {
    this.database.run('INSERT INTO documents VALUES (?, ?)', position, documentPath(recordKey(record)));
    // A login policy refers to identity providers, but the import can send the policy without a provider. So the
    // references of a policy are not stored.
    if (record.section.exported?.keepProviders !== undefined) return;
    for (const { reference, key } of planReferences(record))
      this.database.run(
        'INSERT INTO targets VALUES (?, ?, ?, ?)',
        position,
        documentPath(key),
        referenceField(reference),
        Number(isOwnReference(reference)),
      );
  }

  reset(): void {
    for (const table of ['records', 'documents', 'targets']) this.database.run(`DELETE FROM ${table}`);
  }

  /** Deletes all outcomes, so that an import can follow a dry run. */
  restart(): void {
    for (const sql of RESTART) this.database.run(sql);
    this.elsewhere.clear();
    for (const idSet of [this.misplaced, this.refused]) idSet.clear();
  }

  /** Yields the path of each valid record, in the order of the file. Leaves out nested records. */
  documents(only?: 'created'): Generator<LedgerDocument, void, void> {
    const tables = 'documents JOIN records USING (position)';
    const selected = `WHERE ${only === undefined ? 'record IS NOT NULL' : `outcome = '${only}'`}`;
    return this.rows(documentRow, `SELECT position, orgId, section, path FROM ${tables} ${selected} ORDER BY position`);
  }

  /** Returns the path of the record at a position. Returns undefined for a nested record. */
  document(position: number): LedgerDocument | undefined {
    const sql = `SELECT position, orgId, section, path FROM documents JOIN records USING (position) WHERE position = ?`;
    const columns = this.database.statement(sql).get(position);
    return columns === undefined ? undefined : documentRow.parse(columns);
  }

  hasCreated(path: string): boolean {
    const sql = "SELECT 1 FROM documents JOIN records USING (position) WHERE path = ? AND outcome = 'created' LIMIT 1";
    return this.database.all(sql, path).length > 0;
  }

  /** @param organisation the id and the name of the organisation into which ZITADEL wrote the record */
  addElsewhere(position: number, organisation: string): void {
    if (this.misplaced.has(position)) return;
    this.misplaced.add(position);
    const { id, record } = this.at(position);
    const issue = because('written_elsewhere', { organisation });
    const sql = "UPDATE records SET outcome = 'failed', issues = ? WHERE position = ?";
    this.database.run(sql, JSON.stringify([issue]), position);
    this.elsewhere.add(toError(record.section.name, id, issue));
  }

  /**
   * Yields references from records of the file to other records. The file does not contain the other record, which must
   * belong to the same organisation as the referring record.
   */
  foreignTargets(): Generator<LedgerTarget, void, void> {
    return this.outsideTargets('isOwn = 1');
  }

  /** Yields references to users that the file does not contain. */
  outsideUsers(): Generator<LedgerTarget, void, void> {
    return this.outsideTargets("path LIKE 'users/%'");
  }

  private outsideTargets(condition: string): Generator<LedgerTarget, void, void> {
    const isOutside = 'NOT EXISTS (SELECT 1 FROM documents WHERE documents.path = targets.path)';
    const tables = 'targets JOIN records USING (position)';
    const sql = `SELECT position, orgId, section, path, field FROM ${tables} WHERE ${condition} AND ${isOutside}`;
    return this.rows(targetRow, sql);
  }

  firstReferring(path: string): LedgerRecord | undefined {
    const sql = 'SELECT position FROM targets WHERE path = ? ORDER BY position LIMIT 1';
    const columns = this.database.statement(sql).get(path);
    return columns === undefined ? undefined : this.at(positionRow.parse(columns).position);
  }

  private *rows<Row>(schema: z.ZodType<Row>, sql: string): Generator<Row, void, void> {
    for (const columns of this.database.statement(sql).iterate()) yield schema.parse(columns);
  }

  at(position: number): LedgerRecord {
    return this.read(this.database.statement(`SELECT ${COLUMNS} FROM records WHERE position = ?`).get(position));
  }

  noteDeleted(position: number): void {
    this.database.run('UPDATE records SET wasDeleted = 1 WHERE position = ?', position);
  }

  /** Excludes a record from the import, and stores the reason as its error. */
  withhold(position: number, issue: LedgerIssue): LedgerRecord {
    const withheld = this.at(position);
    const { id, record } = withheld;
    const name = `${recordNoun(record.section.name)} ${named(id, recordName(record))}`;
    const settled = "found = 'taken', foreseen = 'failed', outcome = 'failed', issues = ?, withheld = ?";
    const sql = `UPDATE records SET ${settled} WHERE position = ? AND withheld IS NULL`;
    this.database.run(sql, JSON.stringify([issue]), name, position);
    this.database.run("UPDATE records SET outcome = 'failed' WHERE parent = ? AND outcome IS NULL", position);
    return withheld;
  }

  /**
   * Excludes records from the import if they refer to an excluded record and were not sent yet. If the two records
   * belong to different organisations, excludes the referring record only if no other record of the file has the
   * referenced id.
   */
  withholdDependents(): void {
    const statement = this.database.statement(WITHHOLD_DEPENDENTS);
    for (let count = -1; count !== 0; count = Number(statement.run(DEPENDENT).changes));
  }

  /** Yields the records of the file in their order. The records of the organisations themselves come last. */
  async *records(signal: AbortSignal, only: readonly LedgerOutcome[] = []): AsyncGenerator<LedgerRecord, void, void> {
    const selected = only.length === 0 ? 'record IS NOT NULL' : hasOutcome(only);
    const sql = `SELECT ${COLUMNS} FROM records WHERE position > ? AND ${selected} ORDER BY position LIMIT ${ROWS_PER_PAGE}`;
    for (let last = 0, page = this.database.all(sql, last); page.length > 0; page = this.database.all(sql, last)) {
      await yieldToEventLoop();
      signal.throwIfAborted();
      for (const columns of page) {
        const record = this.read(columns);
        yield record;
        last = record.position;
      }
    }
  }

  /** Yields the records that a step must still send, grouped by organisation. */
  *unsent(step: number): Generator<LedgerRecord, void, void> {
    const sql = `SELECT ${COLUMNS} FROM records WHERE step = ? AND parent IS NULL AND outcome IS NULL
      ORDER BY orgId, position`;
    for (const columns of this.database.statement(sql).iterate(step)) yield this.read(columns);
  }

  /** Returns the records of the given sections that are closed in the file and, as far as is known, open in ZITADEL. */
  toClose(sections: readonly SectionName[], which: 'existing' | 'created'): LedgerRecord[] {
    const selected = which === 'created' ? "outcome = 'created'" : "found IN ('equal', 'different')";
    const sql = `SELECT ${COLUMNS} FROM records WHERE closing = 'open' AND ${selected}
      AND section IN (SELECT value FROM json_each(?)) ORDER BY position`;
    return this.database.all(sql, JSON.stringify(sections)).map((columns) => this.read(columns));
  }

  get hasClosings(): boolean {
    return this.database.all("SELECT 1 FROM records WHERE closing = 'open' LIMIT 1").length > 0;
  }

  get hasFailures(): boolean {
    const failed =
      "outcome IN ('failed', 'unconfirmed') OR issues IS NOT NULL OR (outcome IS NULL AND foreseen = 'failed')";
    return this.database.all(`SELECT 1 FROM records WHERE ${failed} LIMIT 1`).length > 0;
  }

  /** Stores that the import need not close a record any more, because the record is closed or cannot be closed. */
  settleClosing({ position }: Pick<LedgerRecord, 'position'>): void {
    this.database.run("UPDATE records SET closing = 'settled' WHERE position = ? AND closing = 'open'", position);
  }

  /** Stores that the import changes an existing record that was unchanged so far. */
  noteChange({ position }: Pick<LedgerRecord, 'position'>): void {
    this.database.run(
      "UPDATE records SET outcome = 'overwritten' WHERE position = ? AND outcome = 'unchanged'",
      position,
    );
  }

  addProblem({ position }: Pick<LedgerRecord, 'position'>, issue: LedgerIssue): void {
    const sql = `UPDATE records SET outcome = iif(outcome = 'created', outcome, 'failed'),
      issues = json_insert(coalesce(issues, '[]'), '$[#]', json(?)) WHERE position = ?`;
    this.database.run(sql, JSON.stringify(issue), position);
  }

  /**
   * Reserves a login name. Returns false if an earlier user of the file has already reserved this name.
   * @param name the login name. If login names are unique only within an organisation, the caller adds the
   * organisation's id
   */
  claimLoginName(name: string): boolean {
    const sql = 'INSERT INTO loginNames (digest) VALUES (?) ON CONFLICT DO NOTHING';
    return this.database.statement(sql).run(createHash('sha256').update(name).digest()).changes === 1;
  }

  earlierWithKey({ position, key }: Pick<LedgerRecord, 'position' | 'key'>): string | undefined {
    const sql = 'SELECT id FROM records WHERE key = ? AND position < ? ORDER BY position LIMIT 1';
    const [columns] = this.database.all(sql, key, position);
    return columns === undefined ? undefined : idRow.parse(columns).id;
  }

  /**
   * Stores the decision about a record. If a nested record has no outcome, it gets the outcome of the record that
   * contains it.
   */
  enter({ position }: Pick<LedgerRecord, 'position'>, entry: LedgerEntry): void {
    const { found: is = null, foreseen = null, outcome: settled = null, issues = [] } = entry;
    const assignments = 'found = coalesce(?, found), foreseen = coalesce(?, foreseen)';
    const sql = `UPDATE records SET ${assignments}, outcome = ?, issues = ? WHERE position = ?`;
    const list = issues.length === 0 ? null : JSON.stringify(issues);
    this.database.run(sql, is, foreseen, settled, list, position);
    this.database.run('UPDATE records SET outcome = ? WHERE parent = ? AND outcome IS NULL', settled, position);
  }

  /** Called for a dry run. Gives each unsent record the outcome that it would have if ZITADEL accepted it. */
  foresee(): void {
    this.database.run('UPDATE records SET outcome = foreseen WHERE outcome IS NULL');
  }

  /** Stores that ZITADEL rejects an organisation, so that its records without an outcome have failed. */
  refuse(orgId: string): void {
    this.refused.add(orgId);
    this.database.run("UPDATE records SET outcome = 'failed' WHERE orgId = ? AND outcome IS NULL", orgId);
  }

  /** Adds an error that does not belong to any record of the file. */
  addError(id: string, issue: LedgerIssue & { readonly type: string }): void {
    const section = recordSections.find(({ error }) => error.type === issue.type)?.name ?? issue.type;
    const sql = "INSERT INTO records (section, id, outcome, issues) VALUES (?, ?, 'failed', ?)";
    this.database.run(sql, section, id, JSON.stringify([issue]));
  }

  /** Adds an error about a record that ZITADEL has and the file does not contain. */
  addKept(section: SectionName, id: string, issue: LedgerIssue): void {
    const sql = 'INSERT INTO records (section, id, issues) VALUES (?, ?, ?)';
    this.database.run(sql, section, id, JSON.stringify([issue]));
  }

  /**
   * `total` is the number of records that belong to the import. `records` is the number of these records that have an
   * outcome.
   */
  get progress(): z.infer<typeof progressRow> {
    const sql =
      "SELECT count(*) AS total, count(outcome) AS records FROM records WHERE orgId IS NOT NULL AND outcome IS NOT 'notCarried'";
    return progressRow.parse(this.database.statement(sql).get());
  }

  get outcomes(): OutcomeCounts {
    const counts = noOutcomes();
    const settled = "outcome IS NOT NULL AND outcome NOT IN ('existing', 'sent')";
    const sql = `SELECT outcome, section, count(*) AS records FROM records WHERE ${settled} GROUP BY outcome, section`;
    for (const columns of this.database.all(sql)) {
      const row = countRow.parse(columns);
      counts[row.outcome][row.section] = row.records;
    }
    return counts;
  }

  get createdOrgs(): string[] {
    const created = [...this.documents('created')].filter(({ section }) => section === organisationSection.name);
    return created.map(({ orgId }) => orgId);
  }

  /**
   * The numbers of existing records that the import changed. `seeds` is the number of people whose TOTP seeds it added.
   * `closed` is the number of records that it deactivated or locked.
   */
  get changes(): z.infer<typeof changesRow> {
    const sql = `SELECT count(*) FILTER (WHERE foreseen = 'overwritten') AS seeds,
      count(*) FILTER (WHERE foreseen <> 'overwritten') AS closed FROM records WHERE outcome = 'overwritten' AND parent IS NULL`;
    return changesRow.parse(this.database.statement(sql).get());
  }

  get errors(): BoundedList<ImportError> {
    const sql = 'SELECT section, id, issues FROM records WHERE issues IS NOT NULL ORDER BY position';
    const errors = new BoundedList<ImportError>(MAX_LISTED_ISSUES);
    for (const { section, id, issues } of this.rows(errorRow, sql))
      for (const issue of issues) errors.add(toError(section, id, issue));
    return errors;
  }

  private read(columns: unknown): LedgerRecord {
    const { parent, section, orgId, record, wasDeleted, ...ledgerFields } = ledgerRow.parse(columns);
    const text = unseal(this.keyring, record, placeOf(ledgerFields.position));
    const { json, state, otpEmail } = recordContent.parse(JSON.parse(text));
    return {
      ...ledgerFields,
      isHeld: parent !== null,
      wasDeleted: wasDeleted === 1,
      record: { ...toRecord(recordSection(section), json, orgId), state, otpEmail },
    };
  }
}

function toError(section: string, id: string, { type, message, ...meaning }: LedgerIssue): ImportError {
  const reported = { type: type ?? recordSection(section).error.type, ...withoutEmpty({ id }) };
  return { ...reported, message: message ?? noticeMessage({ ...reported, ...meaning, message: '' }), ...meaning };
}

function hasOutcome(outcomes: readonly LedgerOutcome[]): string {
  return `outcome IN (${outcomes.map((name) => `'${name}'`).join(', ')})`;
}

function placeOf(position: number): string {
  return `record ${position} of an import`;
}

function serialiseRecord({ section, json, credentials, givenPassword, state, otpEmail }: OrganisationRecord): string {
  const whole = structuredClone(json);
  for (const { path, field, clear } of section.credentials ?? []) {
    if (credentials[field] !== undefined) putAt(whole, path, credentials[field]);
    if (clear !== undefined && givenPassword !== undefined) putAt(whole, clear, givenPassword);
  }
  return JSON.stringify({ json: whole, state, otpEmail });
}
