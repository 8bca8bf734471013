import { hash } from 'node:crypto';
import { z } from 'zod';
import { BoundedList } from '../../shared/collections/boundedList.ts';
import { total } from '../../shared/collections/counts.ts';
import { TemporaryDatabase } from '../../shared/collections/temporaryDatabase.ts';
import { defined } from '../../shared/defined.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import type { EqualRecord, Pairing } from '../../shared/exportFile/pairedExports.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { organisationSection, recordSection, sections } from '../../shared/organisation/allSections.ts';
import { type FieldDifference, fieldDifferences } from '../../shared/organisation/equality.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { nothingStated } from '../../shared/organisation/statedContent.ts';
import { isTurnOver, yieldToEventLoop } from '../../shared/turns.ts';
import {
  type ComparedRecord,
  comparedContent,
  comparedRecord,
  type RecordContent,
  recordContent,
  recordName,
  statedRecordContent,
} from './comparedRecord.ts';
import { EqualRecords } from './equalRecords.ts';
import { anyZitadel, ImportFacts } from './importFacts.ts';
import type { SecretSelection } from './secretSelection.ts';
import { affectsOthers, type Side, SideFacts } from './sideFacts.ts';

type Outcome = 'equal' | 'different' | 'onlyFirst' | 'onlySecond';

export interface RecordDifference {
  /** Why the difference is expected. Absent if the difference is unexpected. */
  readonly reason?: string;
  readonly outcome: Exclude<Outcome, 'equal'>;
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  /**
   * The name of the record. If the sides have different names for it, this is the name on the first side. Absent if the
   * record has no name.
   */
  readonly name?: string;
  /**
   * Present if an earlier record of the same side has the same id. Only that earlier record was compared with the other
   * side.
   */
  readonly isRepeat?: true;
  /** The fields that differ. Present only if both sides have the record. */
  readonly fields?: readonly FieldDifference[];
}

/**
 * The maximum size of all listed differences together. Limits the memory, because a difference can contain long values.
 */
const MAX_LISTED_BYTES = 16_000_000;

const storedRecord = z.object({
  key: z.instanceof(Uint8Array),
  section: z.string(),
  orgId: z.string(),
  id: z.string(),
  isRepeat: z.int(),
  first: z.string().nullable(),
  second: z.string().nullable(),
  loss: z.string().nullable(),
});
const equalRow = z.object({ section: z.string(), orgId: z.string(), records: z.int() });
const organisationRow = z.object({
  orgId: z.string(),
  people: z.int(),
  records: z.int(),
  content: z.string().nullable(),
});
const sharedRow = z.object({ section: z.string(), orgId: z.string(), first: z.string(), second: z.string() });
const contentRow = z.object({ content: z.string() });
const namedRow = contentRow.extend({ orgId: z.string(), id: z.string() });

function readContent(text: string): RecordContent {
  return recordContent.parse(JSON.parse(text));
}

export interface FirstRecord extends RecordContent {
  /** Why ZITADEL, as the second side, might not import the record. */
  readonly loss?: string;
}

/**
 * A function that returns why a difference is expected; undefined for an unexpected difference.
 * @param first the record of the first side; undefined if only the second side has it
 */
export type Explain = (difference: RecordDifference, first?: FirstRecord) => string | undefined;

export interface ComparedPair extends Pick<ComparedRecord, 'section' | 'orgId' | 'id'> {
  readonly outcome: Exclude<Outcome, 'onlySecond'>;
  readonly first: RecordContent;
  /** The content on the second side. Undefined if only the first side has the record. */
  readonly second: RecordContent | undefined;
}

interface SharedRecord {
  readonly second: RecordContent;
  /** The fields that differ, except secrets and factors. */
  readonly fields: readonly FieldDifference[];
}

interface SideLoader extends RecordVisitor {
  /** @returns the record's key in the database; undefined if the comparison leaves out the record */
  add(record: OrganisationRecord): Uint8Array | undefined;
}

export interface SecondRecord extends Pick<ComparedRecord, 'section' | 'orgId' | 'id'> {
  readonly second: RecordContent;
  /** The content on the first side. Undefined if only the second side has the record. */
  readonly first: RecordContent | undefined;
}

export interface IdentifiedRecord extends Pick<ComparedRecord, 'orgId' | 'id' | 'content'> {}

/** `different` counts only unexpected differences. */
type OutcomeCounts = Record<Outcome | 'differentAsExpected', number>;

export class ComparedSides {
  private readonly bySection = new Map<string, OutcomeCounts>();
  readonly organisations = new Map<string, OutcomeCounts>();
  readonly differences: BoundedList<RecordDifference>;
  readonly expected: BoundedList<RecordDifference>;

  /** @param maxListed limits the unexpected and the expected differences separately */
  constructor(maxListed: number) {
    this.differences = new BoundedList(maxListed, [], MAX_LISTED_BYTES);
    this.expected = new BoundedList(maxListed, [], MAX_LISTED_BYTES);
  }

  /** True if all differences are expected. */
  get isEqual(): boolean {
    return this.differences.size === 0;
  }

  /** The number of records with each outcome, by section. The sections have the same order as in an export. */
  get counts(): ReadonlyMap<string, OutcomeCounts> {
    const names: readonly string[] = [...sections.map(({ name }) => name), organisationSection.name];
    return new Map([...this.bySection].toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
  }

  count({ section, orgId }: Pick<ComparedRecord, 'section' | 'orgId'>, outcome: keyof OutcomeCounts, records = 1) {
    countsIn(this.bySection, section)[outcome] += records;
    countsIn(this.organisations, orgId)[outcome] += records;
  }
}

const sideTable = (side: Side) => `
  CREATE TABLE ${side} (position INTEGER PRIMARY KEY, key BLOB UNIQUE, section TEXT, orgId TEXT, id TEXT, content TEXT,
    isRepeat INTEGER, loss TEXT) STRICT;`;
const insertInto = (side: Side) => `
  INSERT OR IGNORE INTO ${side} (key, section, orgId, id, content, isRepeat, loss) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const INSERT = { first: insertInto('first'), second: insertInto('second') };

// The keys of records are in random order, so consecutive inserts change distant pages of the index. With SQLite's
// default cache of 2 MB, most inserts would have to read the disk.
const TABLES = `
  PRAGMA cache_size = -16000;
  ${sideTable('first')}
  ${sideTable('second')}
  CREATE TABLE providers (orgId TEXT, id TEXT, side TEXT, PRIMARY KEY (orgId, id, side)) STRICT, WITHOUT ROWID;
  CREATE TABLE differing (key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID`;

// A comparison reads the records of the second side first, in the order of that side. Then it reads those records that
// only the first side has.
const OF_SECOND = `
  SELECT key, second.section, second.orgId, second.id, second.isRepeat, first.content AS first, second.content AS second,
    first.loss
  FROM second LEFT JOIN first USING (key)`;
const OF_BOTH = `
  SELECT first.section, first.orgId, first.content AS first, second.content AS second
  FROM first JOIN second USING (key) WHERE key = ?`;
const ONLY_FIRST = `
  SELECT key, section, orgId, id, isRepeat, content AS first, NULL AS second, loss
  FROM first WHERE key NOT IN (SELECT key FROM second)`;
const IN_SECTIONS = 'section IN (SELECT value FROM json_each(?))';
const EQUAL = `
  SELECT second.section, second.orgId, count(*) AS records FROM second JOIN first USING (key)
  WHERE first.content = second.content GROUP BY second.section, second.orgId`;

const ORGANISATIONS = `
  SELECT orgId, sum(section = ?) AS people, count(*) AS records, min(iif(section = ? AND isRepeat = 0, content, NULL)) AS content
  FROM first GROUP BY orgId ORDER BY max(position)`;

/** `records` includes the organisation's own record. */
export interface SizedOrganisation {
  readonly orgId: string;
  readonly name: string;
  readonly people: number;
  readonly records: number;
}

/**
 * The records of two sides, such as the source and the target of a migration, with digests in place of secrets. The
 * records are in a temporary file without a name, which the operating system removes. Memory does not grow with the
 * number of records.
 */
export class RunDatabase implements Disposable, Pairing {
  /** The temporary file with the records. It also contains the tables that `imports` uses. */
  readonly database = new TemporaryDatabase(TABLES);
  private readonly facts = new SideFacts(this.database);
  /** Facts that determine how ZITADEL imports the first side. Used only if the second side is ZITADEL. */
  readonly imports: ImportFacts;
  selection: SecretSelection;
  /**
   * The kinds of values that the export of the first side contains completely. If a record lacks such a value, the
   * first side does not have it. The caller sets this property after it has read the first side.
   */
  stated = nothingStated;
  /**
   * True while the database contains the whole second side in its current state. False before the caller has loaded it,
   * and after the second side has changed.
   */
  isSecondComplete = false;
  readonly equal = new EqualRecords();
  /** Loads the records of the first side. The caller must load all of them before the records of the second side. */
  readonly first = this.loader('first');
  readonly second = this.loader('second');

  /** @param target facts about the second side, used if that side is ZITADEL */
  constructor(selection: SecretSelection, target = anyZitadel) {
    this.selection = selection;
    this.imports = new ImportFacts(this.database, target);
  }

  /**
   * Compares the records of both sides. The caller must have loaded all records of both sides.
   * @param explain returns why a difference is expected. If absent, every difference is unexpected
   * @param onCompared called with the number of records that were compared since the last call
   */
  async compare(
    signal: AbortSignal,
    maxListed: number,
    explain: Explain = () => undefined,
    onCompared: (records: number) => void = () => {},
  ): Promise<ComparedSides> {
    const sides = new ComparedSides(maxListed);
    this.database.run('DELETE FROM differing');
    for (const [orgId, { counts }] of this.equal.organisations)
      for (const [section, records] of Object.entries(counts)) {
        sides.count({ section, orgId }, 'equal', records);
        onCompared(records);
      }
    for (const columns of this.database.all(EQUAL)) {
      const { records, ...record } = equalRow.parse(columns);
      sides.count(record, 'equal', records);
      onCompared(records);
    }
    const differing = `${OF_SECOND} WHERE first.content IS NOT second.content ORDER BY second.position`;
    for (const sql of [differing, `${ONLY_FIRST} ORDER BY position`])
      for await (const record of this.rows(storedRecord, signal, sql)) {
        this.compareRecord(record, sides, explain);
        onCompared(1);
      }
    return sides;
  }

  /** Yields the first side's records of the given sections. The caller must have compared both sides before. */
  async *pairs(signal: AbortSignal, sections: readonly string[]): AsyncGenerator<ComparedPair, void, void> {
    const inBoth = `${OF_SECOND} WHERE first.key IS NOT NULL AND second.isRepeat = 0 AND second.${IN_SECTIONS}`;
    const onlyFirst = `${ONLY_FIRST} AND isRepeat = 0 AND ${IN_SECTIONS}`;
    for (const sql of [`${inBoth} ORDER BY second.position`, `${onlyFirst} ORDER BY position`])
      for await (const stored of this.rows(storedRecord, signal, sql, JSON.stringify(sections))) {
        const { key, section, orgId, id, ...texts } = stored;
        const { first, second } = this.contents(section, texts);
        if (first !== undefined) yield { section, orgId, id, outcome: this.outcomeOf(key, second), first, second };
      }
  }

  /**
   * Yields the records of the second side. Leaves out records that imports ignore. If several records have the same
   * key, yields only the first.
   */
  async *secondRecords(signal: AbortSignal): AsyncGenerator<SecondRecord, void, void> {
    for await (const stored of this.rows(storedRecord, signal, `${OF_SECOND} WHERE second.isRepeat = 0`)) {
      const { section, orgId, id, ...texts } = stored;
      const { first, second } = this.contents(section, texts);
      if (second === undefined || this.isLeftOut({ section, orgId }, first, second)) continue;
      yield { section, orgId, id, first, second };
    }
  }

  organisations(): readonly SizedOrganisation[] {
    return this.database.all(ORGANISATIONS, humanUserSection.name, organisationSection.name).map((columns) => {
      const { content: text, ...organisation } = organisationRow.parse(columns);
      const { orgId, people, records } = organisation;
      const name = text === null ? orgId : textAt(parseObject(readContent(text).body), 'org.name', orgId);
      const { counts = {} } = this.equal.organisations.get(orgId) ?? {};
      return {
        orgId,
        name,
        people: people + (counts[humanUserSection.name] ?? 0),
        records: records + total(counts),
      };
    });
  }

  async *firstWithIds(
    signal: AbortSignal,
    section: string,
    ids: readonly string[],
  ): AsyncGenerator<IdentifiedRecord, void, void> {
    const sql = `SELECT orgId, id, content FROM first
      WHERE section = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY position`;
    for await (const { content: text, ...record } of this.rows(namedRow, signal, sql, section, JSON.stringify(ids)))
      yield { ...record, content: readContent(text) };
  }

  /**
   * Compares the records of both sides that have the given key. Ignores secrets and factors, because an import into
   * ZITADEL never changes them.
   * @returns undefined unless both sides have the record
   */
  find(key: Uint8Array): SharedRecord | undefined {
    const columns = this.database.statement(OF_BOTH).get(key);
    if (columns === undefined) return undefined;
    const { first, second, ...record } = sharedRow.parse(columns);
    const [firstContent, secondContent] = [readContent(first), readContent(second)];
    const fields =
      first === second
        ? []
        : this.fieldDifferences(record, withoutSecrets(firstContent), withoutSecrets(secondContent));
    return { second: secondContent, fields };
  }

  /**
   * True if the comparison does not need the content of a section's records that are equal on both sides. The caller
   * then passes these records to `onEqual` instead of storing them.
   */
  readonly isPaired = (section: Section): boolean => {
    const isCompared = section.keys !== true || this.selection.withKeys;
    return isCompared && section.exported?.providerType === undefined && !affectsOthers(section);
  };

  /** Counts a record that has the same bytes in the exports of both sides. The caller must not load this record. */
  readonly onEqual = (record: EqualRecord): void => this.equal.add(record);

  [Symbol.dispose](): void {
    this.database[Symbol.dispose]();
  }

  /** Yields the rows of a query. Lets other work of the event loop run from time to time. */
  private async *rows<Row>(
    schema: z.ZodType<Row>,
    signal: AbortSignal,
    sql: string,
    ...values: readonly string[]
  ): AsyncGenerator<Row, void, void> {
    for (const columns of this.database.statement(sql).iterate(...values)) {
      if (isTurnOver()) {
        await yieldToEventLoop();
        signal.throwIfAborted();
      }
      yield schema.parse(columns);
    }
  }

  private loader(side: Side): SideLoader {
    return {
      add: (exportedRecord) => {
        const { section, json, orgId } = exportedRecord;
        if (section.exported?.providerType !== undefined)
          this.database.run(PROVIDER, orgId, textAt(json, section.key[0] ?? '', orgId), side);
        this.facts.note(exportedRecord, side);
        const loss = side === 'first' ? this.imports.note(exportedRecord) : undefined;
        const record = comparedRecord(exportedRecord, this.selection);
        if (record !== undefined) this.keep(side, record, loss ?? null);
        return record?.key;
      },
      reset: () => {
        this.equal.reset();
        if (side === 'first') this.imports.reset();
        else this.isSecondComplete = false;
        this.database.run(`DELETE FROM ${side}`);
        this.database.run('DELETE FROM providers WHERE side = ?', side);
        this.facts.reset(side);
      },
    };
  }

  /**
   * Stores a record. If a side has several records with the same key, only the first is compared, because an import
   * uses only the first. A later record with other content is stored under a key of its own.
   */
  private keep(side: Side, { key, section, orgId, id, content }: ComparedRecord, loss: string | null): void {
    const text = JSON.stringify(content);
    const insert = (as: Uint8Array, isRepeat: boolean) =>
      this.database.statement(INSERT[side]).run(as, section, orgId, id, text, Number(isRepeat), loss).changes > 0;
    if (insert(key, false)) return;
    const isSame = [side, 'first' as const].some((other) => this.contentOf(other, key) === text);
    if (!isSame) insert(repeatKey(key, text), true);
  }

  private contentOf(side: Side, key: Uint8Array): string | undefined {
    const columns = this.database.statement(`SELECT content FROM ${side} WHERE key = ?`).get(key);
    return columns === undefined ? undefined : contentRow.parse(columns).content;
  }

  private compareRecord(stored: z.infer<typeof storedRecord>, sides: ComparedSides, explain: Explain): void {
    const { key, isRepeat, first: firstText, second: secondText, loss, ...record } = stored;
    const { first, second } = this.contents(record.section, { first: firstText, second: secondText });
    if (this.isLeftOut(record, first, second)) return;
    const fields = first && second && this.fieldDifferences(record, first, second);
    if (fields?.length === 0) {
      sides.count(record, 'equal');
      return;
    }
    const outcome = second === undefined ? 'onlyFirst' : first === undefined ? 'onlySecond' : 'different';
    if (outcome === 'different') this.database.run('INSERT INTO differing VALUES (?)', key);
    const named = first ?? second;
    const name = named && recordName(named);
    const difference: RecordDifference = {
      outcome,
      ...record,
      ...(isRepeat === 0 ? {} : { isRepeat: true }),
      ...defined({ fields, name }),
    };
    const reason = explain(difference, first && { ...first, ...defined({ loss: loss ?? undefined }) });
    sides.count(record, outcome === 'different' && reason !== undefined ? 'differentAsExpected' : outcome);
    if (reason === undefined) sides.differences.add(difference);
    else sides.expected.add({ ...difference, reason });
  }

  /** True if only one side has the record, and imports ignore the record. */
  private isLeftOut(
    { section: name, orgId }: Pick<ComparedRecord, 'section' | 'orgId'>,
    first: RecordContent | undefined,
    second: RecordContent | undefined,
  ): boolean {
    const only = first ?? second;
    if (only === undefined || (first !== undefined && second !== undefined)) return false;
    const { json } = comparedContent(only);
    return this.facts.isLeftOut(
      { section: recordSection(name), json, orgId },
      first === undefined ? 'second' : 'first',
    );
  }

  private contents(
    section: string,
    { first, second }: Pick<z.infer<typeof storedRecord>, Side>,
  ): { readonly first: RecordContent | undefined; readonly second: RecordContent | undefined } {
    const read = first === null ? undefined : readContent(first);
    return {
      first: read && statedRecordContent(recordSection(section), read, this.stated),
      second: second === first ? read : second === null ? undefined : readContent(second),
    };
  }

  private outcomeOf(key: Uint8Array, second: RecordContent | undefined): ComparedPair['outcome'] {
    if (second === undefined) return 'onlyFirst';
    const isDifferent = this.database.statement('SELECT 1 FROM differing WHERE key = ?').get(key) !== undefined;
    return isDifferent ? 'different' : 'equal';
  }

  private fieldDifferences(
    { section: name, orgId }: Pick<ComparedRecord, 'section' | 'orgId'>,
    first: RecordContent,
    second: RecordContent,
  ): readonly FieldDifference[] {
    const section = recordSection(name);
    const isOwnProvider = (idpId: string) => this.database.statement(FIND_PROVIDER).get(orgId, idpId) !== undefined;
    const stored = (content: RecordContent, side: Side) => {
      const compared = comparedContent(content);
      return { ...compared, json: this.facts.asStored({ ...compared, section, orgId }, side) };
    };
    return fieldDifferences(section, stored(first, 'first'), stored(second, 'second'), isOwnProvider);
  }
}

const PROVIDER = 'INSERT OR IGNORE INTO providers VALUES (?, ?, ?)';
const FIND_PROVIDER = 'SELECT 1 FROM providers WHERE orgId = ? AND id = ?';

function withoutSecrets({ body, state }: RecordContent): RecordContent {
  return { body, secrets: {}, ...defined({ state }) };
}

/**
 * Returns the key under which the database stores a later record with the same id. The usual key belongs to the first
 * record with this id.
 */
function repeatKey(key: Uint8Array, text: string): Uint8Array {
  return hash('sha256', `${Buffer.from(key).toString('hex')}${text}`, 'buffer');
}

function countsIn(countsByName: Map<string, OutcomeCounts>, name: string): OutcomeCounts {
  const counts = countsByName.get(name) ?? {
    equal: 0,
    different: 0,
    differentAsExpected: 0,
    onlyFirst: 0,
    onlySecond: 0,
  };
  countsByName.set(name, counts);
  return counts;
}
