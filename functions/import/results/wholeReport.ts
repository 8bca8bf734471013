import { openTemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { IdentityError } from '../../../shared/errors/identityError.ts';
import type { ObjectLocation, ObjectStorage } from '../../../shared/objectStorage/objectStorage.ts';
import type { ImportError, ImportResponse, ImportWarning } from '../contract.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** The kinds of entries, each a list of the response; ids stand in lists of their organisation. */
type Kind = 'error' | 'warning' | 'id';

/**
 * The entries of an import response without a limit. They are kept in an unnamed temporary file of SQLite, so that memory
 * does not grow with their number. The owner disposes of it.
 */
export class WholeReport implements Disposable {
  private readonly database = openTemporaryDatabase(`
    CREATE TABLE entries (kind TEXT, organisation INTEGER, list TEXT, position INTEGER, json TEXT,
      PRIMARY KEY (kind, organisation, list, position)) STRICT, WITHOUT ROWID`);
  private readonly insert;
  private readonly organisations: { readonly index: number; readonly orgId: string }[] = [];
  private added = 0;

  constructor() {
    this.insert = this.database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?)');
  }

  addOrganisation(index: number, orgId: string): void {
    this.organisations.push({ index, orgId });
  }

  addError(error: ImportError): void {
    this.add('error', 0, '', error);
  }

  addWarning(warning: ImportWarning): void {
    this.add('warning', 0, '', warning);
  }

  /** Adds an id of a written record to a list of its organisation. */
  addId(organisation: number, list: string, entry: unknown): void {
    this.add('id', organisation, list, entry);
  }

  /** Yields the whole response: `response` with all errors, warnings and ids. */
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
    this.insert.run(kind, organisation, list, this.added++, JSON.stringify(entry));
  }

  private *texts({ summary }: ImportResponse): Generator<string> {
    const {
      warnings: _listed,
      errorsOmitted: _errors,
      warningsOmitted: _warnings,
      idsOmitted: _ids,
      ...facts
    } = summary;
    yield '{"errors":[';
    yield* this.list('error', 0);
    yield '],"success":';
    yield* this.success();
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

/**
 * Runs an import and writes its whole response to an object, without the limits of the lists. The upload starts before the
 * import, so that a location that cannot be written is an error before anything is imported. An object that cannot be
 * completed afterwards does not lose the response: `summary` says why.
 * @throws IdentityError naming the object, or the error of the import
 */
export async function importWithReport(
  objectStorage: ObjectStorage,
  location: ObjectLocation,
  run: (whole: WholeReport) => Promise<ImportResponse>,
  signal: AbortSignal,
): Promise<ImportResponse> {
  using whole = new WholeReport();
  const started: { import?: Promise<ImportResponse> } = {};
  async function* content(): AsyncGenerator<Uint8Array> {
    started.import = run(whole);
    yield* whole.chunks(await started.import);
  }
  try {
    const report = await objectStorage.write(location, content(), signal);
    return withSummary(await started.import, { report });
  } catch (error) {
    if (started.import === undefined) throw error;
    // An aborted upload does not wait for its content. The import's own error, if any, is the more exact one.
    return withSummary(await started.import, { reportError: IdentityError.from(error).message });
  }
}

function withSummary(response: ImportResponse | undefined, more: Partial<ImportResponse['summary']>): ImportResponse {
  if (response === undefined) throw new Error('the upload ended without reading its content');
  return { ...response, summary: { ...response.summary, ...more } };
}
