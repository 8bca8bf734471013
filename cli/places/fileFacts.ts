import type { RecordVisitor } from '../../functions/import/inspect/inspection.ts';
import { LeftToDo, type LeftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import { passwordHashFormat } from '../../shared/organisation/passwords.ts';
import { type OrganisationRecord, storedFields } from '../../shared/organisation/record.ts';
import { recordKey } from '../../shared/organisation/recordPlan.ts';

/** The number of records of a section, and the bytes of their JSON without secrets. */
interface SectionSize {
  records: number;
  bytes: number;
}

const nothing = { withPasswords: false, withOtp: false, withKeys: false };

/** What an export file contains, collected while it is read. */
export class FileFacts implements RecordVisitor {
  readonly sections = new Map<string, SectionSize>();
  /** The numbers of password hashes, by their formats. */
  readonly hashFormats = new Map<string, number>();
  /** The numbers of secrets, by their kinds. */
  readonly secrets = new Map<string, number>();
  private lists = newLists();

  add(record: OrganisationRecord): void {
    const { section, body, credentials, clearPassword, otpEmail } = record;
    const size = this.sections.get(section.name) ?? { records: 0, bytes: 0 };
    this.sections.set(section.name, { records: size.records + 1, bytes: size.bytes + Buffer.byteLength(body) });
    const { passwordHash, totpSeed, clientSecret } = credentials;
    if (passwordHash !== undefined) increment(this.hashFormats, passwordHashFormat(passwordHash) ?? 'unknown');
    const present = {
      passwordHashes: passwordHash !== undefined,
      clearPasswords: clearPassword !== undefined,
      clientSecrets: clientSecret !== undefined,
      totpSeeds: totpSeed !== undefined,
      otpEmailFactors: otpEmail,
      keys: section.keys === true,
    };
    for (const [kind, isPresent] of Object.entries(present)) if (isPresent) increment(this.secrets, kind);
    const document = { id: recordKey(record).id, ...storedFields(record) };
    for (const list of [this.lists.ours, this.lists.zitadel]) list.addRecord(section, document);
  }

  reset(): void {
    for (const map of [this.sections, this.hashFormats, this.secrets]) map.clear();
    this.lists = newLists();
  }

  /** What must be done by hand after an import into an instance of this service. */
  get leftToDo(): readonly LeftToDoEntry[] {
    return this.lists.ours.entriesFor({ ...this.content, forZitadel: false });
  }

  /** The same after an import into a ZITADEL, with what that does otherwise. */
  get leftToDoInZitadel(): readonly LeftToDoEntry[] {
    return this.lists.zitadel.entriesFor({ ...this.content, forZitadel: true });
  }

  /** Which secrets the file contains. */
  get content() {
    const has = (...kinds: readonly string[]) => kinds.some((kind) => this.secrets.has(kind));
    return {
      withPasswords: has('passwordHashes', 'clearPasswords'),
      withOtp: has('totpSeeds', 'otpEmailFactors'),
      withKeys: has('keys'),
    };
  }
}

function newLists() {
  return {
    ours: new LeftToDo({ ...nothing, forZitadel: false }),
    zitadel: new LeftToDo({ ...nothing, forZitadel: true }),
  };
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
