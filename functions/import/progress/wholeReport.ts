import { DatabaseSync } from 'node:sqlite';
import type { ImportError, ImportResponse, ImportWarning } from '../contract.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** The kinds of entries, each a list of the response; ids stand in lists of their organisation. */
type Kind = 'error' | 'warning' | 'id';

/** The entries that a whole report keeps. */
export interface WholeReportOptions {
  /** Whether it lists all ids; by default only as many as the response. */
  readonly withIds?: boolean;
  /** The maximum size of all entries, above which further ones are counted only; unlimited by default. */
  readonly maxBytes?: number;
}

/**
 * The entries of an import response without a limit. They are kept in an unnamed temporary file of SQLite, so that memory
 * does not grow with their number. The owner disposes of it.
 */
export class WholeReport implements Disposable {
  readonly withIds: boolean;
  private readonly database = new DatabaseSync('');
  private readonly insert;
  private readonly organisations: { readonly index: number; readonly orgId: string }[] = [];
  private readonly maxBytes: number;
  private readonly omitted: Record<Kind, number> = { error: 0, warning: 0, id: 0 };
  private added = 0;
  private bytes = 0;

  constructor({ withIds = false, maxBytes = Number.POSITIVE_INFINITY }: WholeReportOptions = {}) {
    this.withIds = withIds;
    this.maxBytes = maxBytes;
    this.database.exec(`PRAGMA journal_mode = OFF;
      CREATE TABLE entries (kind TEXT, organisation INTEGER, list TEXT, position INTEGER, json TEXT,
        PRIMARY KEY (kind, organisation, list, position)) STRICT, WITHOUT ROWID;
      BEGIN`);
    this.insert = this.database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?)');
  }

  addOrganisation(index: number, orgId: string): void {
    if (this.withIds) this.organisations.push({ index, orgId });
  }

  addError(error: ImportError): void {
    this.add('error', 0, '', error);
  }

  addWarning(warning: ImportWarning): void {
    this.add('warning', 0, '', warning);
  }

  /** Adds an id of a written record to a list of its organisation, if ids are kept. */
  addId(organisation: number, list: string, entry: unknown): void {
    if (!this.withIds) return;
    this.add('id', organisation, list, entry);
  }

  /** Yields the whole response: `response` with all errors and warnings, and all ids if they are kept. */
  *chunks(response: ImportResponse): Generator<Uint8Array> {
    let pending = '';
    for (const text of this.texts(response)) {
      pending += text;
      if (pending.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(pending);
      pending = '';
    }
    yield Buffer.from(pending);
  }

  [Symbol.dispose](): void {
    this.database.close();
  }

  private add(kind: Kind, organisation: number, list: string, entry: unknown): void {
    const json = JSON.stringify(entry);
    this.bytes += Buffer.byteLength(json);
    if (this.bytes > this.maxBytes) this.omitted[kind]++;
    else this.insert.run(kind, organisation, list, this.added++, json);
  }

  private *texts({ success, summary }: ImportResponse): Generator<string> {
    const { warnings: _listed, errorsOmitted: _errors, warningsOmitted: _warnings, idsOmitted, ...rest } = summary;
    const facts = {
      ...rest,
      ...(this.withIds || idsOmitted === undefined ? {} : { idsOmitted }),
      ...(this.omitted.error > 0 ? { errorsOmitted: this.omitted.error } : {}),
      ...(this.omitted.warning > 0 ? { warningsOmitted: this.omitted.warning } : {}),
    };
    yield '{"errors":[';
    yield* this.list('error', 0);
    yield '],"success":';
    if (this.withIds) yield* this.success();
    else yield JSON.stringify(success);
    yield `,"summary":${JSON.stringify(facts).slice(0, -1)},"warnings":[`;
    yield* this.list('warning', 0);
    yield ']}}\n';
  }

  private *success(): Generator<string> {
    yield '{"orgs":[';
    for (const [position, { index, orgId }] of this.organisations.entries()) {
      yield `${position === 0 ? '' : ','}{"orgId":${JSON.stringify(orgId)}`;
      yield* this.idLists(index);
      yield '}';
    }
    yield ']}';
  }

  private *list(kind: Kind, organisation: number): Generator<string> {
    let separator = '';
    for (const [, json] of this.entries(kind, organisation)) {
      yield `${separator}${json}`;
      separator = ',';
    }
  }

  private *idLists(organisation: number): Generator<string> {
    let open: string | undefined;
    for (const [list, json] of this.entries('id', organisation)) {
      if (list === open) yield `,${json}`;
      else yield `${open === undefined ? '' : ']'},${JSON.stringify(list)}:[${json}`;
      open = list;
    }
    if (open !== undefined) yield ']';
  }

  private *entries(kind: Kind, organisation: number): Generator<[list: string, json: string]> {
    const select = this.database.prepare(
      'SELECT list, json FROM entries WHERE kind = ? AND organisation = ? ORDER BY list, position',
    );
    for (const { list, json } of select.iterate(kind, organisation)) yield [String(list), String(json)];
  }
}
