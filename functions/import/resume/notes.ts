import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { organisationKey } from '../../../shared/auth/authorise.ts';
import { type Counts, increase } from '../../../shared/collections/counts.ts';
import { organisationsExist } from '../../../shared/errors/errors.ts';
import { parseObject } from '../../../shared/json/jsonObject.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentId,
  type Reader,
  type Store,
  type StoredDocument,
  type Write,
} from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import { type EarlierCalls, type ImportWarning, importWarning } from '../contract.ts';
import { isExpired, noteExpiry } from './checkpoint.ts';
import type { OverwriteMark } from './overwriteMark.ts';

const count = z.record(z.string(), z.int());
const noteSchema = z.object({
  call: z.string(),
  warnings: z.array(importWarning),
  /** The epoch of checkpoints in which the commit was made. */
  epoch: z.string().optional(),
  /** The commit's records by section; absent where nobody knows the numbers of the whole import any more. */
  created: count.exactOptional(),
  overwritten: count.exactOptional(),
});

/** What one commit of a call noted. */
type Note = z.infer<typeof noteSchema>;

/** What a commit does to records, and what is to be said of it. */
export type Noted = Required<Pick<Note, 'created' | 'overwritten' | 'warnings'>>;

/** A note as it is stored; undefined if it has expired. */
interface StoredNote {
  readonly id: string;
  readonly note: Note | undefined;
}

const READ_BATCH = 500;
const NOTHING: Noted = { created: {}, overwritten: {}, warnings: [] };

interface NotingCall {
  readonly identity: string;
  /** What the creation dates of this call's records start with. */
  readonly call: string;
  readonly mark: Pick<OverwriteMark, 'epoch'>;
  readonly now: () => Date;
}

/**
 * The notes of all calls of one import: the numbers and warnings that a later call cannot derive from the records, and
 * which calls created records. A note is part of the commit that it describes. Notes are deleted with the end of the
 * import, or a day after its last call.
 */
export class ImportNotes {
  private readonly base: Pick<Store, 'snapshot'>;
  private readonly digest: string;
  private readonly call: string;
  private readonly mark: NotingCall['mark'];
  private readonly now: () => Date;
  private created: Promise<ReadonlySet<string>> | undefined;
  /** The notes of earlier calls that this call began with. */
  private found: readonly StoredNote[] = [];

  /** @param base the database with the notes of earlier calls */
  constructor(base: Pick<Store, 'snapshot'>, { identity, call, mark, now }: NotingCall) {
    this.base = base;
    this.digest = hash('sha256', identity, 'base64url');
    this.call = call;
    this.mark = mark;
    this.now = now;
  }

  /** Builds the note for a commit, if it creates or overwrites records. */
  writes(noted: Noted): Write[] {
    return isEmpty(noted.created) && isEmpty(noted.overwritten) ? [] : [this.note(noted)];
  }

  /**
   * Reads what earlier calls of the import have noted.
   * @returns whether there were such calls, and whether this call continues all of them without a checkpoint: each noted
   * its numbers, in the present epoch
   */
  async readEarlier(): Promise<{ readonly exist: boolean; readonly continue: boolean }> {
    const found: StoredNote[] = [];
    for await (const notes of this.read()) found.push(...notes.filter(({ note }) => note?.call !== this.call));
    this.found = found;
    const { epoch } = this.mark;
    const fits = ({ note }: StoredNote) => isCounted(note) && note.epoch === epoch;
    return { exist: found.length > 0, continue: epoch !== undefined && found.length > 0 && found.every(fits) };
  }

  /**
   * Lets the notes of all calls live as long as the checkpoints that are saved until the next renewal, unless another call
   * has ended the import.
   */
  async renew(store: DocumentStore): Promise<void> {
    const fields = { expiresAt: noteExpiry(this.now()) };
    for await (const notes of this.read()) {
      const keys = notes.filter(({ note }) => note !== undefined).map(({ id }) => noteKey(id));
      await store.transaction(async (transaction) => {
        const stored = await transaction.getMany(keys, []);
        const present = keys.filter((_, index) => stored[index] !== undefined);
        transaction.write(present.map((key) => ({ type: 'update', key, fields })));
      });
    }
  }

  /** Whether one of the import's calls created a stored record. */
  async isOwn(stored: StoredDocument): Promise<boolean> {
    if (isOfCall(stored, [this.call])) return true;
    this.created ??= this.readCalls();
    return isOfCall(stored, await this.created);
  }

  /** Names this call before its first write, so that every call of the import recognises what it creates. */
  async nameCall(store: DocumentStore): Promise<void> {
    await store.commit([this.note(NOTHING)]);
  }

  /**
   * Checks that every organisation that exists was created by this import.
   * @throws IdentityError ALREADY_EXISTS naming the others; the signal's reason
   */
  async requireOwn(reader: Reader, orgIds: readonly string[], signal: AbortSignal): Promise<void> {
    const foreign: string[] = [];
    let calls: ReadonlySet<string> = new Set([this.call]);
    const isOwn = (stored: StoredDocument | undefined) => stored === undefined || isOfCall(stored, calls);
    for await (const batch of inTurns(orgIds, READ_BATCH, signal)) {
      const documents = await reader.getMany(batch.map(organisationKey), ['createdAt']);
      // The calls are read later: each was named before it created anything.
      if (!documents.every(isOwn)) calls = new Set([this.call, ...(await this.readCalls())]);
      foreign.push(...batch.filter((_, index) => !isOwn(documents[index])));
    }
    if (foreign.length > 0) throw organisationsExist(foreign);
  }

  /**
   * Ends the import: deletes its notes.
   * @returns what other calls of the import noted: their warnings, and what the earlier ones did, where that is known
   */
  async finish(store: DocumentStore): Promise<{ warnings: ImportWarning[]; earlier: EarlierCalls | undefined }> {
    const all: StoredNote[] = [];
    for await (const notes of this.read()) all.push(...notes);
    await this.deleteAll(store, all);
    const others = all.filter(({ note }) => note?.call !== this.call);
    return { warnings: others.flatMap(({ note }) => note?.warnings ?? []), earlier: this.sum(others) };
  }

  /** Sums up the numbers of earlier calls; undefined if a note of theirs is missing, or another call was at work. */
  private sum(others: readonly StoredNote[]): EarlierCalls | undefined {
    const [ids, calls] = [new Set(others.map(({ id }) => id)), new Set(this.found.map(({ note }) => note?.call))];
    if (!this.found.every(({ id }) => ids.has(id))) return undefined;
    const [created, overwritten]: [Counts, Counts] = [{}, {}];
    for (const { note } of others) {
      if (!isCounted(note) || !calls.has(note.call)) return undefined;
      for (const [section, number] of Object.entries(note.created)) increase(created, section, number);
      for (const [section, number] of Object.entries(note.overwritten)) increase(overwritten, section, number);
    }
    const earlier = { ...(isEmpty(created) ? {} : { created }), ...(isEmpty(overwritten) ? {} : { overwritten }) };
    return isEmpty(earlier) ? undefined : earlier;
  }

  private async deleteAll(store: DocumentStore, notes: readonly StoredNote[]): Promise<void> {
    const keys = notes.map(({ id }) => noteKey(id));
    const last = keys.at(-1);
    if (last === undefined) return;
    // What is left where the process ends between two commits must not be taken for everything.
    if (keys.length > READ_BATCH) await this.uncount(store, last);
    for (let start = 0; start < keys.length; start += READ_BATCH)
      await store.commit(keys.slice(start, start + READ_BATCH).map((key) => ({ type: 'delete', key })));
  }

  private async uncount(store: DocumentStore, key: DocumentKey): Promise<void> {
    const body = JSON.stringify({ call: this.call, warnings: [] } satisfies Note);
    await store.transaction(async (transaction) => {
      const [stored] = await transaction.getMany([key], []);
      if (stored !== undefined) transaction.write([{ type: 'update', key, fields: { body } }]);
    });
  }

  private async readCalls(): Promise<ReadonlySet<string>> {
    const calls = new Set<string>();
    for await (const notes of this.read()) for (const { note } of notes) if (note !== undefined) calls.add(note.call);
    return calls;
  }

  /** Reads the notes; those that have expired have only an id. A call's own ones do not expire while it runs. */
  private async *read(): AsyncGenerator<StoredNote[]> {
    await using snapshot = await this.base.snapshot();
    const fields = ['body', 'expiresAt'] as const;
    for await (const documents of snapshot.scan({ collection: 'instance', partition: this.partition, fields }))
      yield documents.map(({ id, body, expiresAt }) => {
        const note = noteSchema.parse(parseObject(body));
        return { id, note: note.call !== this.call && isExpired(expiresAt, this.now()) ? undefined : note };
      });
  }

  private note(noted: Noted): Write {
    const key = noteKey(documentId('checkpoint', this.digest, 'note', randomUUID()));
    const body = JSON.stringify({ call: this.call, epoch: this.mark.epoch, ...noted } satisfies Note);
    return { type: 'create', key, fields: { partition: this.partition, body, expiresAt: noteExpiry(this.now()) } };
  }

  private get partition(): string {
    return `importNotes/${this.digest}`;
  }
}

/** Whether a note tells the numbers of its commit's records. */
function isCounted(note: Note | undefined): note is Note & Noted {
  return note?.created !== undefined && note.overwritten !== undefined;
}

function isEmpty(counts: object): boolean {
  return Object.keys(counts).length === 0;
}

function isOfCall({ createdAt = '' }: StoredDocument, calls: Iterable<string>): boolean {
  return [...calls].some((call) => createdAt.startsWith(call));
}

function noteKey(id: string): DocumentKey {
  return { collection: 'instance', id };
}
