import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { organisationKey } from '../../../shared/auth/authorise.ts';
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
import { type ImportWarning, importWarning } from '../contract.ts';
import { isExpired, noteExpiry } from './checkpoint.ts';

const noteSchema = z.object({ call: z.string(), warnings: z.array(importWarning) });

/** What one commit of a call noted. */
type Note = z.infer<typeof noteSchema>;

const READ_BATCH = 500;

/**
 * The notes of all calls of one import: the warnings that a later call cannot derive from the records, and which calls
 * created records that others belong to. A note is part of the commit that it describes. Notes are deleted with the end
 * of the import, or a day after its last call.
 */
export class ImportNotes {
  private readonly base: Pick<Store, 'snapshot'>;
  private readonly digest: string;
  private readonly call: string;
  private readonly now: () => Date;
  private hasNoted = false;
  private earlier: Promise<ReadonlySet<string>> | undefined;

  /**
   * @param base the database with the notes of earlier calls
   * @param identity the import's identity
   * @param call what the creation dates of this call's records start with
   */
  constructor(base: Pick<Store, 'snapshot'>, identity: string, call: string, now: () => Date) {
    this.base = base;
    this.digest = hash('sha256', identity, 'base64url');
    this.call = call;
    this.now = now;
  }

  /**
   * Builds the note for a commit, if it needs one. The first commit that creates records which others belong to must
   * name the call, and every commit its warnings.
   */
  writes(createsOwners: boolean, warnings: readonly ImportWarning[]): Write[] {
    if (warnings.length === 0 && (this.hasNoted || !createsOwners)) return [];
    return [this.note(warnings)];
  }

  /** Remembers that a commit with a note has succeeded, so that later ones need not name the call. */
  confirm(writes: readonly Write[]): void {
    this.hasNoted ||= writes.length > 0;
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
    this.earlier ??= this.readCalls();
    return isOfCall(stored, await this.earlier);
  }

  /** Names this call before its first write, so that every call of the import recognises what it creates. */
  async nameCall(store: DocumentStore): Promise<void> {
    const write = this.note([]);
    await store.commit([write]);
    this.confirm([write]);
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
   * @returns the warnings that other calls of the import noted
   */
  async finish(store: DocumentStore): Promise<ImportWarning[]> {
    const warnings: ImportWarning[] = [];
    for await (const notes of this.read()) {
      for (const { note } of notes) if (note !== undefined && note.call !== this.call) warnings.push(...note.warnings);
      await store.commit(notes.map(({ id }) => ({ type: 'delete', key: noteKey(id) })));
    }
    return warnings;
  }

  private async readCalls(): Promise<ReadonlySet<string>> {
    const calls = new Set<string>();
    for await (const notes of this.read()) for (const { note } of notes) if (note !== undefined) calls.add(note.call);
    return calls;
  }

  /** Reads the notes; those that have expired have only an id. A call's own ones do not expire while it runs. */
  private async *read(): AsyncGenerator<{ readonly id: string; readonly note: Note | undefined }[]> {
    await using snapshot = await this.base.snapshot();
    const fields = ['body', 'expiresAt'] as const;
    for await (const documents of snapshot.scan({ collection: 'instance', partition: this.partition, fields }))
      yield documents.map(({ id, body, expiresAt }) => {
        const note = noteSchema.parse(parseObject(body));
        return { id, note: note.call !== this.call && isExpired(expiresAt, this.now()) ? undefined : note };
      });
  }

  private note(warnings: readonly ImportWarning[]): Write {
    const key = noteKey(documentId('checkpoint', this.digest, 'note', randomUUID()));
    const body = JSON.stringify({ call: this.call, warnings } satisfies {
      call: string;
      warnings: readonly ImportWarning[];
    });
    return { type: 'create', key, fields: { partition: this.partition, body, expiresAt: noteExpiry(this.now()) } };
  }

  private get partition(): string {
    return `importNotes/${this.digest}`;
  }
}

function isOfCall({ createdAt = '' }: StoredDocument, calls: Iterable<string>): boolean {
  return [...calls].some((call) => createdAt.startsWith(call));
}

function noteKey(id: string): DocumentKey {
  return { collection: 'instance', id };
}
