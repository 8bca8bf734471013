// Facts about the content of an export file, collected while it is read.

import { type Counts, increase } from '../../shared/collections/counts.ts';
import { defined } from '../../shared/defined.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type CountedEntry, LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { hashVerification } from '../../shared/organisation/passwordHashes.ts';
import { type OrganisationRecord, storedFields } from '../../shared/organisation/record.ts';
import { recordKey } from '../../shared/organisation/recordPlan.ts';
import { type CredentialField, credentialFields } from '../../shared/store/documentFields.ts';
import { noSecrets, type SecretSelection } from '../records/secretSelection.ts';
import type { ExportedRequest } from './recordCounter.ts';

/** The kinds of secrets in counts, by the fields of credentials. */
const credentialKinds = {
  passwordHash: 'passwordHashes',
  totpSeed: 'totpSeeds',
  clientSecret: 'clientSecrets',
} as const satisfies Readonly<Record<CredentialField, string>>;

/** The secrets of an export file. */
export class FileSecrets implements RecordVisitor {
  /** The numbers of secrets by kind. */
  counts: Counts = {};

  add({ section, credentials, clearPassword, otpEmail }: OrganisationRecord): void {
    for (const field of credentialFields)
      if (credentials[field] !== undefined) increase(this.counts, credentialKinds[field]);
    const present = {
      clearPasswords: clearPassword !== undefined,
      otpEmailFactors: otpEmail === true,
      keys: section.keys === true,
    };
    for (const [kind, isPresent] of Object.entries(present)) increase(this.counts, kind, Number(isPresent));
  }

  reset(): void {
    this.counts = {};
  }

  /** The kinds of secrets that the file contains. */
  get content(): SecretSelection {
    const has = (...kinds: readonly string[]) => kinds.some((kind) => this.counts[kind] !== undefined);
    return {
      withPasswords: has('passwordHashes', 'clearPasswords'),
      withOtp: has('totpSeeds', 'otpEmailFactors'),
      withKeys: has('keys'),
    };
  }

  /**
   * Returns the kinds of secrets that an import of the file changes, as an export selects them, where client secrets belong
   * to passwords: those that it contains, and those that its source has none of, as its manifest states.
   */
  selection(request: ExportedRequest): SecretSelection {
    const { withPasswords, ...others } = this.stated(request);
    return { withPasswords: withPasswords || this.counts.clientSecrets !== undefined, ...others };
  }

  /** Returns the kinds of secrets that the file contains, or would contain if the source had any. */
  stated({ secrets }: ExportedRequest): SecretSelection {
    const { withPasswords, withOtp, withKeys } = this.content;
    return {
      withPasswords: withPasswords || secrets?.passwords === true,
      withOtp: withOtp || secrets?.otp === true,
      withKeys: withKeys || secrets?.keys === true,
    };
  }
}

/** The content of an export file, and the manual steps after its import. */
export class FileFacts implements RecordVisitor {
  /** The number of records of each section, and the bytes of their JSON without secrets. */
  readonly sections = new Map<string, { records: number; bytes: number }>();
  /** The numbers of password hashes by format. */
  hashFormats: Counts = {};
  readonly secrets = new FileSecrets();
  private lists = newLists();

  add(record: OrganisationRecord): void {
    const { section, body, credentials } = record;
    const size = this.sections.get(section.name) ?? { records: 0, bytes: 0 };
    this.sections.set(section.name, { records: size.records + 1, bytes: size.bytes + Buffer.byteLength(body) });
    const { passwordHash } = credentials;
    if (passwordHash !== undefined) increase(this.hashFormats, hashVerification(passwordHash).format);
    this.secrets.add(record);
    if (record.invalid !== undefined) return;
    const document = { id: recordKey(record).id, ...storedFields(record) };
    for (const list of [this.lists.ours, this.lists.zitadel]) list.addRecord(section, document);
  }

  reset(): void {
    this.sections.clear();
    this.secrets.reset();
    [this.hashFormats, this.lists] = [{}, newLists()];
  }

  /**
   * Returns the manual steps after an import into an instance of this service or into a ZITADEL.
   * @param asked the requested secrets
   */
  leftToDo(request: ExportedRequest, forZitadel = false, asked?: SecretSelection): readonly CountedEntry[] {
    const list = forZitadel ? this.lists.zitadel : this.lists.ours;
    return list.countedEntriesFor({
      ...this.secrets.stated(request),
      forZitadel,
      ...defined({ asked }),
    });
  }
}

function newLists() {
  return {
    ours: new LeftToDo({ ...noSecrets, forZitadel: false }, 'command'),
    zitadel: new LeftToDo({ ...noSecrets, forZitadel: true }, 'command'),
  };
}
