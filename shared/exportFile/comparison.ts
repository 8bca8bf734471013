// Compares the records of two sides, in any order.

import { hash } from 'node:crypto';
import { z } from 'zod';
import { BoundedList } from '../collections/boundedList.ts';
import { openTemporaryDatabase } from '../collections/temporaryDatabase.ts';
import { textAt } from '../json/jsonObject.ts';
import { type FieldDifference, fieldDifferences } from '../organisation/equality.ts';
import type { OrganisationRecord } from '../organisation/record.ts';
import type { OwnProviders } from '../organisation/section.ts';
import { recordSection } from '../organisation/sections.ts';
import { nothingStated } from '../organisation/statedContent.ts';
import { stateSources } from '../organisation/states.ts';
import {
  type ComparedRecord,
  comparedContent,
  comparedRecord,
  type RecordContent,
  recordName,
  statedRecordContent,
} from './comparedRecord.ts';
import type { RecordVisitor } from './inspection.ts';
import type { SecretSelection } from './secretSelection.ts';
import { dependsOnOthers, mayBeLeftOut, SideFacts } from './sideFacts.ts';

/** How a record of one side stands to the other side. */
type Outcome = 'equal' | 'different' | 'onlyFirst' | 'onlySecond';

/** A record that differs. */
export interface RecordDifference {
  /** Why it may differ; absent where it should not. */
  readonly reason?: string;
  readonly outcome: Exclude<Outcome, 'equal'>;
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  /** The record's name, by the first side that has it; absent where it has none. */
  readonly name?: string;
  /** Present where another record of its side with the same id is compared instead. */
  readonly isRepeat?: true;
  /** For a record that both sides have. */
  readonly fields?: readonly FieldDifference[];
}

/** The size of the listed differences, whose values may be long. */
const MAX_LISTED_BYTES = 16_000_000;

const row = z.object({ content: z.string() });
const keptRecord = z.object({
  section: z.string(),
  orgId: z.string(),
  id: z.string(),
  content: z.string(),
  isRepeat: z.int(),
});
const postponedRecord = keptRecord.extend({ key: z.instanceof(Uint8Array) });
const content = z.object({
  body: z.string(),
  secrets: z.record(z.string(), z.string()),
  otpEmail: z.boolean().exactOptional(),
  state: z.object({ value: z.string(), source: z.enum(stateSources) }).exactOptional(),
  hashFormat: z.string().exactOptional(),
  isHashRefused: z.literal(true).exactOptional(),
  isSeedUnusable: z.literal(true).exactOptional(),
});

function readContent(text: string): RecordContent {
  return content.parse(JSON.parse(text));
}

/** The options of a comparison. */
export interface ComparisonOptions {
  /**
   * Returns why a record may differ; undefined where it should not. By default none may.
   * @param first the record of the first side, if it has one
   */
  readonly explain?: (difference: RecordDifference, first?: RecordContent) => string | undefined;
  /** Takes the records of the first side, each with that of the second one. */
  readonly pairs?: PairVisitor | undefined;
}

/** A record of the first side, with that of the second side. */
export interface ComparedPair extends Pick<ComparedRecord, 'section' | 'orgId' | 'id'> {
  readonly outcome: Exclude<Outcome, 'onlySecond'>;
  readonly first: RecordContent;
  /** Undefined for a record that only the first side has. */
  readonly second: RecordContent | undefined;
}

/** A record of the first side. */
export interface FoundRecord {
  /** Identifies the record; undefined for one that is not compared. */
  readonly key: Uint8Array | undefined;
  /** Undefined if the first side does not have the record. */
  readonly first?: RecordContent;
  /** The differing fields of a record that both sides have. */
  readonly fields?: readonly FieldDifference[];
}

/** A visitor of pairs. */
export interface PairVisitor {
  addPair(pair: ComparedPair): void;
  reset(): void;
}

/** Numbers of records; those that both sides have and that may differ are not among the `different` ones. */
type OutcomeCounts = Record<Outcome | 'differentAsExpected', number>;

/**
 * A comparison of two sides, record by record. The first side is kept in an unnamed temporary file, which the operating
 * system removes, so memory does not grow with the sides; the second one is compared while it is read.
 */
export class Comparison implements Disposable {
  private readonly database = openTemporaryDatabase(`
    CREATE TABLE first (key BLOB PRIMARY KEY, section TEXT, orgId TEXT, id TEXT, content TEXT, isRepeat INTEGER);
    CREATE TABLE met (key BLOB PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE providers (orgId TEXT, id TEXT, isFirst INTEGER, PRIMARY KEY (orgId, id, isFirst)) WITHOUT ROWID;
    CREATE TABLE postponed (key BLOB, section TEXT, orgId TEXT, id TEXT, content TEXT, isRepeat INTEGER)`);
  private readonly facts = new SideFacts(this.database);
  private readonly selection: SecretSelection;
  private readonly options: ComparisonOptions;
  private readonly statements;
  /** The absent values that the first side states; known once the side was read. */
  stated = nothingStated;
  /** The numbers of records, by section and outcome. */
  readonly counts = new Map<string, OutcomeCounts>();
  /** The same by organisation. */
  readonly organisations = new Map<string, OutcomeCounts>();
  /** The records that should not differ. */
  readonly differences: BoundedList<RecordDifference>;
  /** The records that may differ, each with the reason. */
  readonly expected: BoundedList<RecordDifference>;

  /** @param maxListed the number of differing records to list */
  constructor(selection: SecretSelection, maxListed: number, options: ComparisonOptions = {}) {
    this.selection = selection;
    this.differences = new BoundedList(maxListed, [], MAX_LISTED_BYTES);
    this.expected = new BoundedList(maxListed, [], MAX_LISTED_BYTES);
    this.options = options;
    this.statements = {
      keep: this.database.prepare('INSERT OR IGNORE INTO first VALUES (?, ?, ?, ?, ?, ?)'),
      meet: this.database.prepare('INSERT OR IGNORE INTO met VALUES (?)'),
      find: this.database.prepare('SELECT content FROM first WHERE key = ?'),
      keepProvider: this.database.prepare('INSERT OR IGNORE INTO providers VALUES (?, ?, ?)'),
      findProvider: this.database.prepare('SELECT 1 FROM providers WHERE orgId = ? AND id = ?'),
      postpone: this.database.prepare('INSERT INTO postponed VALUES (?, ?, ?, ?, ?, ?)'),
      postponed: this.database.prepare(
        'SELECT key, section, orgId, id, content, isRepeat FROM postponed ORDER BY rowid',
      ),
      rest: this.database.prepare(
        'SELECT section, orgId, id, content, isRepeat FROM first WHERE key NOT IN (SELECT key FROM met) ORDER BY rowid',
      ),
    };
  }

  /** Takes the records of the first side, which must be complete before the second one. */
  readonly first: RecordVisitor = {
    add: (given) => {
      this.noteProvider(given, true);
      this.facts.note(given, true);
      const record = comparedRecord(given, this.selection);
      if (record === undefined) return;
      const { section, orgId, id } = record;
      const text = JSON.stringify(record.content);
      const keep = (key: Uint8Array, isRepeat: boolean) =>
        this.statements.keep.run(key, section, orgId, id, text, Number(isRepeat)).changes > 0;
      if (!keep(record.key, false) && this.isOther(record)) keep(repeatKey(record), true);
    },
    reset: () => {
      this.database.exec('DELETE FROM first; DELETE FROM providers WHERE isFirst = 1');
      this.facts.reset(true);
    },
  };

  /** Takes the records of the second side. */
  readonly second: RecordVisitor = {
    add: (given) => {
      this.noteProvider(given, false);
      this.facts.note(given, false);
      const record = comparedRecord(given, this.selection);
      if (record === undefined) return;
      const meets = (key: Uint8Array) => this.statements.meet.run(key).changes > 0;
      if (meets(record.key)) this.compare(record);
      else if (this.isOther(record)) {
        const key = repeatKey(record);
        if (meets(key)) this.compare({ ...record, key }, true);
      }
    },
    reset: () => {
      this.database.exec('DELETE FROM met; DELETE FROM postponed; DELETE FROM providers WHERE isFirst = 0');
      this.facts.reset(false);
      for (const counts of [this.counts, this.organisations]) counts.clear();
      for (const list of [this.differences, this.expected]) list.clear();
      this.options.pairs?.reset();
    },
  };

  /**
   * Compares a record with that of the first side, without counting it.
   * @param isOwnProvider whether the second side has an identity provider of the record's organisation
   */
  find(given: OrganisationRecord, isOwnProvider: OwnProviders): FoundRecord {
    const record = comparedRecord(given, this.selection);
    const found = record && this.findFirst(record.key);
    if (record === undefined || found === undefined) return { key: record?.key };
    const first = this.readFirst(record.section, found);
    const isSame = found === JSON.stringify(record.content);
    return { key: record.key, first, fields: isSame ? [] : this.fieldDifferences(record, first, isOwnProvider) };
  }

  /** Adds the records that wait for both sides' records, and those that only the first side has. */
  finish(): void {
    for (const found of this.statements.postponed.iterate()) {
      const { content: text, isRepeat, ...record } = postponedRecord.parse(found);
      const second = { ...record, content: readContent(text) };
      const first = this.findFirst(record.key);
      if (first === undefined && this.isLeftOut(second, false)) continue;
      this.compareWith(first, second, isRepeat === 1);
    }
    for (const found of this.statements.rest.iterate()) {
      const { content: text, isRepeat, ...record } = keptRecord.parse(found);
      const first = this.readFirst(record.section, text);
      if (this.isLeftOut({ ...record, content: first }, true)) continue;
      if (isRepeat === 0) this.options.pairs?.addPair({ ...record, outcome: 'onlyFirst', first, second: undefined });
      this.add({ outcome: 'onlyFirst', ...record, ...(isRepeat === 0 ? {} : { isRepeat: true }) }, { first });
    }
  }

  /** Whether no record differs that should not. */
  get isEqual(): boolean {
    return this.differences.size === 0;
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  /** Whether a record that repeats a key has other content than the first side's first one: as in an import, that one counts. */
  private isOther({ key, content }: ComparedRecord): boolean {
    return this.findFirst(key) !== JSON.stringify(content);
  }

  private compare(record: ComparedRecord, isRepeat = false): void {
    const { key, section, orgId, id } = record;
    const found = this.findFirst(key);
    const text = JSON.stringify(record.content);
    // Providers, domains and roles of both sides, which come later, decide what an export or an import makes of the record.
    const sectionOf = recordSection(record.section);
    const dependsOnFile = sectionOf.exported?.providers !== undefined || dependsOnOthers(sectionOf);
    const waits = found === undefined ? mayBeLeftOut(sectionOf) : found !== text && dependsOnFile;
    if (waits) this.statements.postpone.run(key, section, orgId, id, text, Number(isRepeat));
    else this.compareWith(found, record, isRepeat);
  }

  private isLeftOut({ section, orgId, content }: Omit<ComparedRecord, 'key' | 'id'>, isFirst: boolean): boolean {
    const sectionOf = recordSection(section);
    if (!mayBeLeftOut(sectionOf)) return false;
    const { json } = comparedContent(content);
    return this.facts.isLeftOut({ section: sectionOf, json, orgId }, isFirst);
  }

  /** Reads the content of a record of the first side, with what the side states by absent values. */
  private readFirst(section: string, text: string): RecordContent {
    return statedRecordContent(recordSection(section), readContent(text), this.stated);
  }

  private findFirst(key: Uint8Array): string | undefined {
    return row.safeParse(this.statements.find.get(key)).data?.content;
  }

  private compareWith(found: string | undefined, record: ComparedRecord, isRepeat: boolean): void {
    const { section, orgId, id, content: second } = record;
    const isSame = found === JSON.stringify(second);
    const pairs = isRepeat ? undefined : this.options.pairs;
    const repeat = isRepeat ? { isRepeat } : {};
    if (found === undefined) this.add({ outcome: 'onlySecond', section, orgId, id, ...repeat }, { second });
    else if (isSame && pairs === undefined) this.count(record, 'equal');
    else {
      const first = this.readFirst(section, found);
      const fields = isSame ? [] : this.fieldDifferences(record, first);
      const outcome = fields.length === 0 ? 'equal' : 'different';
      pairs?.addPair({ section, orgId, id, outcome, first, second });
      if (outcome === 'equal') this.count(record, outcome);
      else this.add({ outcome, section, orgId, id, fields }, { first, second });
    }
  }

  private fieldDifferences(
    record: ComparedRecord,
    first: RecordContent,
    isSecondProvider: OwnProviders = () => false,
  ): readonly FieldDifference[] {
    const isOwnProvider = (idpId: string) =>
      this.statements.findProvider.get(record.orgId, idpId) !== undefined || isSecondProvider(idpId);
    const section = recordSection(record.section);
    const stored = (content: RecordContent, isFirst: boolean) => {
      const compared = comparedContent(content);
      return { ...compared, json: this.facts.asStored({ ...compared, section, orgId: record.orgId }, isFirst) };
    };
    return fieldDifferences(section, stored(first, true), stored(record.content, false), isOwnProvider);
  }

  private noteProvider({ section, json, orgId }: OrganisationRecord, isFirst: boolean): void {
    if (section.exported?.providerType === undefined) return;
    this.statements.keepProvider.run(orgId, textAt(json, section.key[0] ?? '', orgId), Number(isFirst));
  }

  private add(
    difference: RecordDifference,
    { first, second }: { first?: RecordContent; second?: RecordContent },
  ): void {
    const content = first ?? second;
    const name = content && recordName(content);
    const found = name === undefined ? difference : { ...difference, name };
    const reason = this.options.explain?.(found, first);
    const isExpected = difference.outcome === 'different' && reason !== undefined;
    this.count(difference, isExpected ? 'differentAsExpected' : difference.outcome);
    if (reason === undefined) this.differences.add(found);
    else this.expected.add({ ...found, reason });
  }

  private count({ section, orgId }: Pick<ComparedRecord, 'section' | 'orgId'>, outcome: keyof OutcomeCounts): void {
    increment(this.counts, section, outcome);
    increment(this.organisations, orgId, outcome);
  }
}

/** Returns the key of a record whose own key another record has. */
function repeatKey({ key, content }: ComparedRecord): Uint8Array {
  return hash('sha256', `${Buffer.from(key).toString('hex')}${JSON.stringify(content)}`, 'buffer');
}

function increment(all: Map<string, OutcomeCounts>, name: string, outcome: keyof OutcomeCounts): void {
  const counts = all.get(name) ?? { equal: 0, different: 0, differentAsExpected: 0, onlyFirst: 0, onlySecond: 0 };
  counts[outcome]++;
  all.set(name, counts);
}
