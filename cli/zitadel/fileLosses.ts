// Records of a file that ZITADEL does not import.

import type { RecordVisitor } from '../../shared/exportFile/inspection.ts';
import { textAt } from '../../shared/json/jsonObject.ts';
import { isRefusedByDefault } from '../../shared/organisation/passwordHashes.ts';
import type { OrganisationRecord } from '../../shared/organisation/record.ts';
import { reportedId } from '../../shared/organisation/recordPlan.ts';
import { equalButForCase, type FileRecords, type RecordFact } from '../../shared/organisation/zitadelFacts.ts';
import { contains, overlap, type ReleaseRange } from '../../shared/organisation/zitadelReleases.ts';
import { type AcceptedLosses, accepts } from '../exports/placeInterfaces.ts';
import type { RecordDifference } from '../records/runDatabase.ts';

/** The names of a file that ZITADEL does not distinguish by case, each with its first record. */
export class CaselessNames {
  private readonly holds: (fact: ReleaseRange) => boolean;
  private readonly ids = new Map<string, string>();

  /** @param holds whether a fact holds for the ZITADEL */
  constructor(holds: (fact: ReleaseRange) => boolean) {
    this.holds = holds;
  }

  /** Returns the id of an earlier record whose name differs only in case. */
  earlier(record: OrganisationRecord): string | undefined {
    const { section, json, orgId } = record;
    const { caseless } = section.zitadel ?? {};
    if (caseless === undefined || !this.holds(caseless)) return undefined;
    const { kind, scope, name } = caseless;
    const folded = JSON.stringify([kind, textAt(json, scope, orgId), textAt(json, name, orgId).toLowerCase()]);
    const earlier = this.ids.get(folded);
    if (earlier === undefined) this.ids.set(folded, reportedId(record));
    return earlier;
  }

  clear(): void {
    this.ids.clear();
  }
}

/** A fact about records that ZITADEL does not import. */
type ImportLoss = Extract<RecordFact, { readonly does: 'imports not' }>;

const unknownRecords: FileRecords = { ownerOf: () => undefined, hasPasswordlessTexts: () => false };

/** Returns the facts because of which ZITADEL does not import a record, of all releases. */
function lossesOf(record: OrganisationRecord, file: FileRecords | undefined): ImportLoss[] {
  const { records = [] } = record.section.zitadel ?? {};
  return records
    .filter((fact) => fact.does === 'imports not')
    .filter(({ dependsOnFile }) => file !== undefined || dependsOnFile !== true)
    .filter(({ when }) => when?.(record, file ?? unknownRecords) ?? true);
}

/** An identity provider that is imported. */
interface ImportedProvider {
  readonly orgId: string;
  /** Whether some of the releases that the ZITADEL may be of do not import it. */
  readonly isUncertain: boolean;
}

/** The records of a file that a ZITADEL cannot take, known before an import. */
export class FileLosses implements RecordVisitor {
  /** The releases that the ZITADEL may be of. */
  readonly releases: ReleaseRange;
  /** The identity providers that are imported, by their ids. */
  private readonly providers = new Map<string, ImportedProvider>();
  /** Those among them that are not imported, because their ids have other owners. */
  private readonly withheld = new Set<string>();
  private readonly names: CaselessNames;
  /** The reasons of records that are not imported, by `lossKey`. */
  private readonly reasons = new Map<string, string>();
  private readonly omitsHashes: boolean;
  /** The people who are imported without their password hash, by `lossKey`. */
  private readonly withoutHash = new Set<string>();

  constructor(releases: ReleaseRange, options: AcceptedLosses = {}) {
    this.releases = releases;
    this.names = new CaselessNames((fact) => overlap(fact, releases));
    this.omitsHashes = accepts(options, 'refused-hashes');
  }

  add(record: OrganisationRecord): void {
    const { section, orgId, json } = record;
    if (record.invalid !== undefined) return;
    const id = reportedId(record);
    const name = lossKey({ section: section.name, orgId, id });
    if (this.omitsHash(record)) this.withoutHash.add(name);
    const loss = this.possibleLoss(record);
    if (loss !== undefined) this.reasons.set(name, loss.text);
    if (section.exported?.providerType !== undefined && !this.isLost(record))
      this.providers.set(textAt(json, 'idpId', orgId), { orgId, isUncertain: loss !== undefined });
    const earlier = this.names.earlier(record);
    if (earlier !== undefined && earlier !== id) this.reasons.set(name, equalButForCase.text);
  }

  reset(): void {
    this.names.clear();
    for (const found of [this.providers, this.withheld, this.reasons, this.withoutHash]) found.clear();
  }

  /** Takes back what was withheld. */
  restart(): void {
    this.withheld.clear();
  }

  /** Withholds an identity provider whose id has another owner. */
  withhold({ section, json, orgId }: OrganisationRecord): void {
    const id = textAt(json, 'idpId', orgId);
    if (section.exported?.providerType !== undefined && this.hasProvider(orgId, id)) this.withheld.add(id);
  }

  /**
   * Whether ZITADEL certainly does not import a record, which is therefore not sent.
   * @param file the file's other records; without them, facts that depend on them do not apply
   */
  isLost(record: OrganisationRecord, file?: FileRecords): boolean {
    return lossesOf(record, file).some((fact) => contains(fact, this.releases));
  }

  /** Returns the fact because of which ZITADEL may not import a record; undefined for a record that it imports. */
  possibleLoss(record: OrganisationRecord, file?: FileRecords): ImportLoss | undefined {
    return lossesOf(record, file).find((fact) => overlap(fact, this.releases));
  }

  /** Whether an identity provider of an organisation is imported. */
  hasProvider(orgId: string, id: string): boolean {
    return this.providers.get(id)?.orgId === orgId && !this.withheld.has(id);
  }

  /** Whether ZITADEL may not have an identity provider of an organisation after the import. */
  mayLackProvider(orgId: string, id: string): boolean {
    return !this.hasProvider(orgId, id) || this.providers.get(id)?.isUncertain === true;
  }

  /** Whether a person is imported without the password hash that the record has. */
  omitsHash({ credentials: { passwordHash } }: Pick<OrganisationRecord, 'credentials'>): boolean {
    return this.omitsHashes && passwordHash !== undefined && isRefusedByDefault(passwordHash);
  }

  /** Whether a person of the file is imported without password hash, which the file has. */
  lacksHash(record: Pick<RecordDifference, 'section' | 'orgId' | 'id'>): boolean {
    return this.withoutHash.has(lossKey(record));
  }

  /** Returns the reason if a record of the file is not imported. */
  reason(record: Pick<RecordDifference, 'section' | 'orgId' | 'id'>): string | undefined {
    return this.reasons.get(lossKey(record));
  }
}

function lossKey({ section, orgId, id }: Pick<RecordDifference, 'section' | 'orgId' | 'id'>): string {
  return JSON.stringify([section, orgId, id]);
}
