// Reading, validating and counting the export of a place.

import { organisationFilter } from '../../functions/import/selection.ts';
import { type Counts, increase } from '../../shared/collections/counts.ts';
import { hasCode } from '../../shared/errors/identityError.ts';
import { sourceInvalid } from '../../shared/errors/placeErrors.ts';
import { type Inspection, inspect, type RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { type CountedEntry, LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { noSecrets, type SecretSelection } from '../../shared/exportFile/secretSelection.ts';
import { hashVerification } from '../../shared/organisation/passwordHashes.ts';
import { type OrganisationRecord, storedFields } from '../../shared/organisation/record.ts';
import { recordKey } from '../../shared/organisation/recordPlan.ts';
import { type CredentialField, credentialFields } from '../../shared/store/documentFields.ts';
import { InterruptedError } from '../command.ts';
import { type ProgressOutput, trackPhase } from '../progress.ts';
import { rejection } from '../serverMessages.ts';
import { makeRepeatable } from './fileContent.ts';
import type { Place, PlaceExportOptions } from './placeInterfaces.ts';
import { type ExportedRequest, RecordCounter } from './recordCounter.ts';
import { countedContent } from './trackTransfer.ts';

/** The facts about an export file that was read. */
export interface PlaceInspection extends Inspection {
  /** The size of the file's JSON. */
  readonly bytes: number;
  /** The request for the file, as its manifest describes it. */
  readonly request: ExportedRequest;
  /** The content that every export of the place omits. */
  readonly losses: readonly string[];
  /** The states that a ZITADEL did not return: a sentence for each organisation. */
  readonly missingStates: readonly string[];
}

/**
 * Reads and validates the export of a place, record by record.
 * @param label the name of the phase in the progress
 * @throws IdentityError for an invalid export file or a manifest mismatch; InterruptedError when the signal aborts
 */
export async function inspectPlace(
  place: Place,
  options: PlaceExportOptions,
  visitor: RecordVisitor | undefined,
  output: ProgressOutput,
  signal: AbortSignal,
  label = `reading ${place.name}`,
): Promise<PlaceInspection> {
  try {
    return await readPlace(place, options, visitor, output, signal, label);
  } catch (error) {
    throw signal.aborted ? new InterruptedError('interrupted: nothing was changed; repeat the command') : error;
  }
}

async function readPlace(
  { name, readExport }: Place,
  options: PlaceExportOptions,
  visitor: RecordVisitor | undefined,
  output: ProgressOutput,
  signal: AbortSignal,
  label: string,
): Promise<PlaceInspection> {
  const counter = new RecordCounter(name);
  await using content = await readExport(options, signal);
  const meter = { records: () => counter.records, fraction: () => content.fraction?.() };
  // The content must outlast the phase.
  return await trackPhase(output, label, meter, async () => {
    await using file = await makeRepeatable(countedContent(content, counter), signal);
    try {
      // A file contains all organisations, so they are selected here.
      const inspection = await inspect(file, signal, {
        isSelected: organisationFilter(options),
        ...(visitor === undefined ? {} : { visitor }),
      });
      const { losses = [], missingStates = [] } = content;
      return { ...inspection, bytes: counter.bytes, request: counter.request, losses, missingStates };
    } catch (error) {
      throw hasCode(error, 'INVALID_ARGUMENT') ? sourceInvalid(name, rejection(error)) : error;
    }
  });
}

/** The kinds of secrets in counts, by the fields of credentials. */
const credentialKinds = {
  passwordHash: 'passwordHashes',
  totpSeed: 'totpSeeds',
  clientSecret: 'clientSecrets',
} as const satisfies Readonly<Record<CredentialField, string>>;

/** The content of an export file, counted while it is read. */
export class FileFacts implements RecordVisitor {
  readonly sections = new Map<string, { records: number; bytes: number }>();
  /** The numbers of password hashes by format. */
  hashFormats: Counts = {};
  /** The numbers of secrets by kind. */
  secrets: Counts = {};
  private lists = newLists();

  add(record: OrganisationRecord): void {
    const { section, body, credentials, clearPassword, otpEmail } = record;
    const size = this.sections.get(section.name) ?? { records: 0, bytes: 0 };
    this.sections.set(section.name, { records: size.records + 1, bytes: size.bytes + Buffer.byteLength(body) });
    const { passwordHash } = credentials;
    if (passwordHash !== undefined) increase(this.hashFormats, hashVerification(passwordHash).format);
    for (const field of credentialFields)
      if (credentials[field] !== undefined) increase(this.secrets, credentialKinds[field]);
    const present = {
      clearPasswords: clearPassword !== undefined,
      otpEmailFactors: otpEmail === true,
      keys: section.keys === true,
    };
    for (const [kind, isPresent] of Object.entries(present)) increase(this.secrets, kind, Number(isPresent));
    const document = { id: recordKey(record).id, ...storedFields(record) };
    for (const list of [this.lists.ours, this.lists.zitadel]) list.addRecord(section, document);
  }

  reset(): void {
    this.sections.clear();
    [this.hashFormats, this.secrets, this.lists] = [{}, {}, newLists()];
  }

  /**
   * Returns the manual steps after an import into an instance of this service or into a ZITADEL.
   * @param asked the requested secrets
   */
  leftToDo(request: ExportedRequest, forZitadel = false, asked?: SecretSelection): readonly CountedEntry[] {
    const list = forZitadel ? this.lists.zitadel : this.lists.ours;
    return list.countedEntriesFor({ ...this.asked(request), forZitadel, ...(asked === undefined ? {} : { asked }) });
  }

  /** Returns the kinds of secrets that the file contains, or would contain if the source had any. */
  private asked({ secrets }: ExportedRequest) {
    const { withPasswords, withOtp, withKeys } = this.content;
    return {
      withPasswords: withPasswords || secrets?.passwords === true,
      withOtp: withOtp || secrets?.otp === true,
      withKeys: withKeys || secrets?.keys === true,
    };
  }

  /** The kinds of secrets that the file contains. */
  get content() {
    const has = (...kinds: readonly string[]) => kinds.some((kind) => this.secrets[kind] !== undefined);
    return {
      withPasswords: has('passwordHashes', 'clearPasswords'),
      withOtp: has('totpSeeds', 'otpEmailFactors'),
      withKeys: has('keys'),
    };
  }

  /** The kinds of secrets in the file as an export selects them, where client secrets belong to passwords. */
  get selection(): SecretSelection {
    const { withPasswords, ...others } = this.content;
    return { withPasswords: withPasswords || this.secrets.clientSecrets !== undefined, ...others };
  }
}

function newLists() {
  return {
    ours: new LeftToDo({ ...noSecrets, forZitadel: false }),
    zitadel: new LeftToDo({ ...noSecrets, forZitadel: true }),
  };
}
