import { type Counts, increase } from '../../shared/collections/counts.ts';
import { defined } from '../../shared/defined.ts';
import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type CountedEntry, LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { textsAt } from '../../shared/json/jsonObject.ts';
import { hashVerification } from '../../shared/organisation/hashFormats.ts';
import { type OrganisationRecord, storedFields } from '../../shared/organisation/record.ts';
import { recordKey } from '../../shared/organisation/recordPlan.ts';
import type { Section } from '../../shared/organisation/sections/section.ts';
import { type CredentialField, credentialFields } from '../../shared/store/documentFields.ts';
import type { StoredDocument } from '../../shared/store/store.ts';
import type { ImportFacts } from '../records/importFacts.ts';
import type { SecretSelection } from '../records/secretSelection.ts';
import type { ExportedRequest } from './recordCounter.ts';

const credentialKinds = {
  passwordHash: 'passwordHashes',
  totpSeed: 'totpSeeds',
  clientSecret: 'clientSecrets',
} as const satisfies Readonly<Record<CredentialField, string>>;

export class FileSecrets implements RecordVisitor {
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

  get content(): SecretSelection {
    const has = (...kinds: readonly string[]) => kinds.some((kind) => this.counts[kind] !== undefined);
    return {
      withPasswords: has('passwordHashes', 'clearPasswords'),
      withOtp: has('totpSeeds', 'otpEmailFactors'),
      withKeys: has('keys'),
    };
  }

  /**
   * Returns the kinds of secrets that an import of the file can change. The file contains secrets of these kinds, or its
   * export included the kinds although the source had no such secrets. Client secrets belong to the kind `passwords`,
   * as in an export.
   */
  selection(request: ExportedRequest): SecretSelection {
    const { withPasswords, ...others } = this.stated(request);
    return { withPasswords: withPasswords || this.counts.clientSecrets !== undefined, ...others };
  }

  /**
   * Returns the kinds of secrets that the export included. If the file contains no secrets of such a kind, the source
   * had none.
   */
  stated({ secrets }: ExportedRequest): SecretSelection {
    const { withPasswords, withOtp, withKeys } = this.content;
    return {
      withPasswords: withPasswords || secrets?.passwords === true,
      withOtp: withOtp || secrets?.otp === true,
      withKeys: withKeys || secrets?.keys === true,
    };
  }
}

/** Returns the ids of the identity providers to which a record and its nested records refer. */
export function providersOf({ section, json }: OrganisationRecord): readonly string[] {
  const held = section.nested === undefined ? [] : textsAt(json, `${section.nested.list}[].configId`, '');
  return [...(section.exported?.providers?.(json) ?? []), ...held];
}

/**
 * Records of a section that refer to the same identity providers. `documents` contains the first of these records, and
 * `others` is the number of further records.
 */
interface ProviderUsers {
  readonly section: Section;
  readonly orgId: string;
  readonly ids: readonly string[];
  readonly documents: StoredDocument[];
  others: number;
}

const MAX_PROVIDER_USERS = 100;

export class FileFacts implements RecordVisitor {
  private readonly imports: ImportFacts | undefined;
  /**
   * Records that refer to identity providers which the file has not contained so far. The file may contain the
   * providers later. The records are grouped by section, organisation and identity providers.
   */
  private readonly providerUsers = new Map<string, ProviderUsers>();
  /** The size of each section of the file, by the section's name. `bytes` is the size of the JSON without secrets. */
  readonly sections = new Map<string, { records: number; bytes: number }>();
  hashFormats: Counts = {};
  readonly secrets = new FileSecrets();
  private lists = newLists();

  /**
   * @param imports receives the records of the file. If absent, `leftToDo` lists no steps about missing identity
   * providers
   */
  constructor(imports?: ImportFacts) {
    this.imports = imports;
  }

  add(record: OrganisationRecord, holder?: OrganisationRecord): void {
    const { section, body, credentials } = record;
    this.imports?.note(record);
    const size = this.sections.get(section.name) ?? { records: 0, bytes: 0 };
    this.sections.set(section.name, { records: size.records + 1, bytes: size.bytes + Buffer.byteLength(body) });
    const { passwordHash } = credentials;
    if (passwordHash !== undefined) increase(this.hashFormats, hashVerification(passwordHash).format);
    this.secrets.add(record);
    if (record.invalid !== undefined) return;
    const document = { id: recordKey(record).id, ...storedFields(record) };
    for (const list of [this.lists.ours, this.lists.zitadel]) list.addRecord(section, document);
    if (holder === undefined) this.addProviderUser(record, document.id);
  }

  private addProviderUser(record: OrganisationRecord, id: string): void {
    const { section, orgId, body } = record;
    const ids = providersOf(record);
    if (this.missing(orgId, ids).length === 0) return;
    const key = JSON.stringify([section.name, orgId, ids]);
    const users = this.providerUsers.get(key) ?? { section, orgId, ids, documents: [], others: 0 };
    this.providerUsers.set(key, users);
    if (users.documents.length < MAX_PROVIDER_USERS) users.documents.push({ id, orgId, body });
    else users.others++;
  }

  /** Returns those of the given identity providers that ZITADEL will not have after an import of the file. */
  private missing(orgId: string, ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.imports?.hasProvider(orgId, id) === false);
  }

  /** Before this call, the caller must have added all records of the file. */
  private listProviderUsers(): void {
    for (const { section, orgId, ids, documents, others } of this.providerUsers.values()) {
      const missing = this.missing(orgId, ids);
      const further = documents.slice(-1).flatMap((last) => Array<StoredDocument>(others).fill(last));
      for (const document of [...documents, ...further])
        this.lists.zitadel.addMissingProviders(section, document, missing);
    }
    this.providerUsers.clear();
  }

  reset(): void {
    this.imports?.reset();
    this.sections.clear();
    this.secrets.reset();
    this.providerUsers.clear();
    [this.hashFormats, this.lists] = [{}, newLists()];
  }

  /**
   * @param forZitadel true if the target is ZITADEL, false if it is an instance of this service
   * @param asked the kinds of secrets that the call requested
   */
  leftToDo(request: ExportedRequest, forZitadel = false, asked?: SecretSelection): readonly CountedEntry[] {
    if (forZitadel) this.listProviderUsers();
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
    ours: new LeftToDo({ forZitadel: false }, 'command'),
    zitadel: new LeftToDo({ forZitadel: true }, 'command'),
  };
}
