import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import type { SecretSelection } from '../secretKinds.ts';
import { type ComparedRecord, comparedRecord } from './comparedRecord.ts';
import { type FieldDifference, fieldDifferences } from './fieldDifferences.ts';

/** How a record of one side stands to the other side. */
export type Outcome = 'equal' | 'different' | 'onlyFirst' | 'onlySecond';

/** A record that differs. */
export interface RecordDifference {
  readonly outcome: Exclude<Outcome, 'equal'>;
  readonly section: string;
  readonly orgId: string;
  readonly id: string;
  /** For a record that both sides have. */
  readonly fields?: readonly FieldDifference[];
}

const row = z.object({ content: z.string() });
const remaining = z.object({ section: z.string(), orgId: z.string(), id: z.string() });
const content = z.object({
  body: z.string(),
  secrets: z.record(z.string(), z.string()),
  otpEmail: z.boolean().exactOptional(),
});

/**
 * A comparison of two sides, record by record. The first side is kept in an unnamed temporary file, which the operating
 * system removes, so memory does not grow with the sides; the second one is compared while it is read.
 */
export class Comparison implements Disposable {
  private readonly database = new DatabaseSync('');
  private readonly selection: SecretSelection;
  private readonly maxListed: number;
  private readonly statements;
  /** The numbers of records, by section and outcome. */
  readonly counts = new Map<string, Record<Outcome, number>>();
  readonly differences: RecordDifference[] = [];
  /** The number of differing records that are not listed. */
  omitted = 0;

  /** @param maxListed the number of differing records to list */
  constructor(selection: SecretSelection, maxListed: number) {
    this.selection = selection;
    this.maxListed = maxListed;
    // One transaction for all: nothing of this is kept.
    this.database.exec(`
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      CREATE TABLE first (key BLOB PRIMARY KEY, section TEXT, orgId TEXT, id TEXT, content TEXT);
      CREATE TABLE met (key BLOB PRIMARY KEY) WITHOUT ROWID;
      BEGIN;`);
    this.statements = {
      keep: this.database.prepare('INSERT OR IGNORE INTO first VALUES (?, ?, ?, ?, ?)'),
      meet: this.database.prepare('INSERT OR IGNORE INTO met VALUES (?)'),
      find: this.database.prepare('SELECT content FROM first WHERE key = ?'),
      rest: this.database.prepare(
        'SELECT section, orgId, id FROM first WHERE key NOT IN (SELECT key FROM met) ORDER BY rowid',
      ),
    };
  }

  /** Takes the records of the first side, which must be complete before the second one. */
  readonly first: RecordVisitor = {
    add: (given) => {
      const record = comparedRecord(given, this.selection);
      if (record === undefined) return;
      const { key, section, orgId, id } = record;
      this.statements.keep.run(key, section, orgId, id, JSON.stringify(record.content));
    },
    reset: () => this.database.exec('DELETE FROM first'),
  };

  /** Takes the records of the second side. */
  readonly second: RecordVisitor = {
    add: (given) => {
      const record = comparedRecord(given, this.selection);
      // A file may repeat a record: the first one counts, as in an import.
      if (record !== undefined && this.statements.meet.run(record.key).changes === 1) this.compare(record);
    },
    reset: () => {
      this.database.exec('DELETE FROM met');
      this.counts.clear();
      this.differences.length = 0;
      this.omitted = 0;
    },
  };

  /** Adds the records that only the first side has. Call it after both sides. */
  finish(): void {
    for (const found of this.statements.rest.iterate()) {
      const { section, orgId, id } = remaining.parse(found);
      this.add({ outcome: 'onlyFirst', section, orgId, id });
    }
  }

  /** Whether no record differs. */
  get isEqual(): boolean {
    return this.differences.length === 0 && this.omitted === 0;
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  private compare({ key, section, orgId, id, content: second }: ComparedRecord): void {
    const found = row.safeParse(this.statements.find.get(key)).data?.content;
    if (found === undefined) this.add({ outcome: 'onlySecond', section, orgId, id });
    else if (found === JSON.stringify(second)) this.count(section, 'equal');
    else {
      const fields = fieldDifferences(content.parse(JSON.parse(found)), second);
      // Some values have several forms: equal fields are an equal record.
      if (fields.length === 0) this.count(section, 'equal');
      else this.add({ outcome: 'different', section, orgId, id, fields });
    }
  }

  private add(difference: RecordDifference): void {
    this.count(difference.section, difference.outcome);
    if (this.differences.length < this.maxListed) this.differences.push(difference);
    else this.omitted++;
  }

  private count(section: string, outcome: Outcome): void {
    const counts = this.counts.get(section) ?? { equal: 0, different: 0, onlyFirst: 0, onlySecond: 0 };
    counts[outcome]++;
    this.counts.set(section, counts);
  }
}
