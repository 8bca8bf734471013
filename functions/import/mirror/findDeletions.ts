import { INSTANCE_MEMBERS } from '../../../shared/accounts/memberships.ts';
import { mirrorChanged, mirrorDefaultOrganisation, mirrorOutdated } from '../../../shared/errors/errors.ts';
import type { Inspection, RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import { isOfUser, mirroredSections, usersLeftOut } from '../../../shared/exportFile/mirroredContent.ts';
import { parseObject, textAt } from '../../../shared/json/jsonObject.ts';
import { sections } from '../../../shared/organisation/allSections.ts';
import {
  type KeyedRecord,
  type PlannedReference,
  planReferences,
  recordKey,
} from '../../../shared/organisation/recordPlan.ts';
import { foreignSections, isRequired } from '../../../shared/organisation/requiredRecords.ts';
import { isInSection, type Section, sectionPartition } from '../../../shared/organisation/sections/section.ts';
import type { FieldName } from '../../../shared/store/documentFields.ts';
import { organisationKey, userKey } from '../../../shared/store/documentKeys.ts';
import { readDefaultOrganisation } from '../../../shared/store/instance.ts';
import { isOfAnImport } from '../../../shared/store/lastChange.ts';
import { scanInPasses } from '../../../shared/store/passes.ts';
import {
  type Collection,
  type DocumentKey,
  documentPath,
  READ_BATCH,
  type Reader,
  type Store,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import { inTurns } from '../../../shared/turns.ts';
import type { ImportSettings } from '../context.ts';
import { orgIdsOf } from '../selectedContent.ts';
import type { Deletions } from './deletions.ts';
import { isSameOrNewer, lastImportOf, originOf } from './lastImport.ts';

export function keyCollector(deletions: Deletions): RecordVisitor {
  return {
    add: (record) => {
      if (record.invalid === undefined) deletions.addFileRecord(documentPath(recordKey(record)));
    },
    reset: () => deletions.resetFile(),
  };
}

export type MirroredStore = Pick<Store, 'snapshot'> & Reader;

export interface MirroredFile {
  readonly inspection: Inspection;
  readonly settings: ImportSettings;
  readonly signal: AbortSignal;
}

/** A record that the import cannot delete, and the stored record that prevents the deletion by a reference to it. */
export interface Obstacle {
  readonly key: DocumentKey;
  readonly referring: StoredDocument;
}

/**
 * Finds the stored records that are in the file's organisations but not in the file, and adds them to `deletions`.
 * @param existing the ids of the file's organisations that exist
 * @throws IdentityError FAILED_PRECONDITION if calls other than imports have created or changed a record of these
 * organisations
 */
export async function findDeletions(
  store: MirroredStore,
  existing: ReadonlySet<string>,
  file: MirroredFile,
  deletions: Deletions,
): Promise<void> {
  const mirrored = mirroredSections(file);
  const replaced = new Set(file.settings.replaceChanged);
  const changed = new Map<string, string>();
  const leftOut = usersLeftOut(file.inspection);
  const fields: readonly FieldName[] = ['partition', 'orgId', 'changedAt', ...(leftOut.size === 0 ? [] : bodyField)];
  for await (const { section, collection, stored } of scanOwn(store, existing, sections, fields, file.signal)) {
    const { orgId = '', id } = stored;
    if (!replaced.has(orgId) && !changed.has(orgId) && !isOfAnImport(stored))
      changed.set(orgId, `${section.error.type} ${id}`);
    if (!mirrored.has(section) || isOfUser(section, stored, leftOut)) continue;
    deletions.add({ key: { collection, id }, section, orgId });
  }
  const [first, ...others] = changed;
  if (first === undefined) return;
  const [orgId, record] = first;
  const otherIds = others.slice(0, MAX_NAMED).map(([id]) => id);
  throw mirrorChanged({ orgId, record, others: otherIds.length === 0 ? undefined : otherIds });
}

const MAX_NAMED = 20;
const bodyField = ['body'] as const;

/**
 * Returns the ids of the file's organisations that exist.
 * @throws IdentityError FAILED_PRECONDITION if an organisation was last imported from a newer or unknown file and is
 * not in `replace_changed`; or if the file contains the default organisation and the request does not list its id
 */
export async function requireCurrent(
  store: MirroredStore,
  { inspection, settings, signal }: MirroredFile,
): Promise<ReadonlySet<string>> {
  const { manifest } = inspection;
  const orgIds = orgIdsOf(inspection);
  const defaultOrgId = await readDefaultOrganisation(store);
  if (orgIds.includes(defaultOrgId) && settings.orgIds?.includes(defaultOrgId) !== true)
    throw mirrorDefaultOrganisation({ orgId: defaultOrgId });
  const replaced = new Set(settings.replaceChanged);
  const existing = new Set<string>();
  for await (const batch of inTurns(orgIds, READ_BATCH, signal)) {
    const organisations = await store.getMany(batch.map(organisationKey), ['lastImport']);
    for (const [index, orgId] of batch.entries()) {
      const stored = organisations[index];
      if (stored === undefined) continue;
      existing.add(orgId);
      const last = lastImportOf(stored);
      const isCurrent = manifest !== undefined && last !== undefined && isSameOrNewer(originOf(manifest), last);
      if (isCurrent || replaced.has(orgId)) continue;
      throw mirrorOutdated({
        orgId,
        file: manifest === undefined ? 'an unknown source' : describeOrigin(originOf(manifest)),
        last:
          last === undefined
            ? 'an unknown file (for example, several files were imported, or records were removed later)'
            : describeOrigin(last),
      });
    }
  }
  return existing;
}

function describeOrigin({ instance, readTime }: ReturnType<typeof originOf>): string {
  return `instance ${instance} at ${readTime}`;
}

/**
 * If the file has at most this number of organisations, the import reads each of them separately. Otherwise, it scans
 * all organisations of the instance.
 */
const MAX_SEPARATE = 20;

async function* scanOwn(
  store: MirroredStore,
  orgIds: ReadonlySet<string>,
  read: readonly Section[],
  fields: readonly FieldName[],
  signal: AbortSignal,
): AsyncGenerator<Scanned> {
  for (const [collection, ofCollection] of Map.groupBy(read, (section) => section.collection)) {
    const partitions = ofCollection.flatMap((section) =>
      Array.from(orgIds, (orgId) => ({ collection, partition: sectionPartition(orgId, section) })),
    );
    for (const range of orgIds.size > MAX_SEPARATE ? [{ collection }] : partitions)
      for await (const documents of scanInPasses(store, { ...range, fields })) {
        signal.throwIfAborted();
        for (const stored of documents) {
          const section = ofCollection.find((candidate) => isInSection(stored.partition, candidate));
          if (section !== undefined && orgIds.has(stored.orgId ?? '')) yield { section, collection, stored };
        }
      }
  }
}

interface Scanned {
  readonly section: Section;
  readonly collection: Collection;
  readonly stored: StoredDocument;
}

/**
 * Finds the stored records that refer to records to delete. Most of them are obstacles to the deletion, even if the
 * reference is optional. Three kinds of referring records are no obstacles:
 * - other records to delete
 * - records of the file, because their new versions do not refer to deleted records
 * - keys, because the import deletes them too
 */
export async function findRequiring(
  store: MirroredStore,
  existing: ReadonlySet<string>,
  file: MirroredFile,
  deletions: Deletions,
): Promise<readonly Obstacle[]> {
  if (deletions.size === 0) return [];
  const mirrored = mirroredSections(file);
  const obstacles = new Map<string, Obstacle>();
  for await (const { section, collection, stored } of scanRequiring(store, existing, file.signal)) {
    const { orgId = '', body, id } = stored;
    const key = { collection, id };
    const path = documentPath(key);
    const isOwn = existing.has(orgId);
    const isMirrored = isOwn && mirrored.has(section);
    const json = parseObject(body);
    const references = planReferences({ section, json, orgId });
    if (isCompleted({ section, json, orgId }, references, deletions)) {
      deletions.keep(path);
      deletions.addFileRecord(path);
    }
    // A key that the file lacks is deleted together with the record to which it belongs, so such a key is not kept.
    const isKept = !deletions.has(path) && !isMirrored && !(isOwn && section.keys === true);
    const targets = references
      .filter(({ reference }) => isKept || isRequired(reference))
      .map((reference) => reference.key)
      .filter((target) => deletions.has(documentPath(target)));
    if (targets.length === 0) continue;
    if (isOwn && section.keys === true && !isMirrored) deletions.add({ key, section, orgId });
    for (const target of targets) {
      const required = documentPath(target);
      if (isMirrored || deletions.has(path)) deletions.addRequirement(path, required);
      else if (obstacles.size < MAX_OBSTACLES) obstacles.set(required, { key: target, referring: stored });
    }
    if (isMirrored && !deletions.has(path)) deletions.addDependent({ key, section, orgId });
  }
  await findHolding(store, existing, file, deletions);
  return [...obstacles.values()];
}

/**
 * Finds the records that require a dependent: a record of the file whose stored version requires records to delete. If
 * the import can replace all records that require a dependent, it can delete the dependent's stored version early. If
 * not, the stored version and the records that it requires stay until the file's records are written.
 */
async function findHolding(
  store: MirroredStore,
  existing: ReadonlySet<string>,
  file: MirroredFile,
  deletions: Deletions,
): Promise<void> {
  const required = new Set(Array.from(deletions.dependentSections(), ({ collection }) => collection));
  const isReferring = ({ references = [] }: Section) => references.some(({ collection }) => required.has(collection));
  if (!sections.some(isReferring)) return;
  const mirrored = mirroredSections(file);
  for await (const { section, collection, stored } of scanRequiring(store, existing, file.signal)) {
    const { orgId = '', body, id } = stored;
    const key = { collection, id };
    const path = documentPath(key);
    const dependents = planReferences({ section, json: parseObject(body), orgId })
      .map((reference) => documentPath(reference.key))
      .filter((target) => deletions.isDependent(target));
    const isReplaceable = deletions.has(path) || (existing.has(orgId) && mirrored.has(section));
    for (const dependent of dependents) {
      if (isReplaceable) deletions.addRequirement(path, dependent);
      else deletions.hold(dependent);
    }
    if (dependents.length > 0 && isReplaceable && !deletions.has(path)) deletions.addDependent({ key, section, orgId });
  }
}

/**
 * True if the file contains this stored record, but lacks a field that the import takes from another stored record. The
 * other record must not be deleted.
 */
function isCompleted(
  { section, json, orgId }: KeyedRecord,
  references: readonly PlannedReference[],
  deletions: Deletions,
): boolean {
  const { field } = section.completed ?? {};
  if (field === undefined) return false;
  const { [field]: _, ...incomplete } = json;
  const isFrom = ({ reference, key }: PlannedReference) =>
    reference.key.includes(field) && !deletions.has(documentPath(key));
  return deletions.isInFile(documentPath(recordKey({ section, json: incomplete, orgId }))) && references.some(isFrom);
}

const MAX_OBSTACLES = 10_000;

/**
 * Reads the records that may refer to records of the organisations: the organisations' own records, and records of
 * sections that may refer to other organisations.
 */
async function* scanRequiring(
  store: MirroredStore,
  orgIds: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<Scanned> {
  const fields: readonly FieldName[] = ['partition', 'orgId', 'body'];
  const foreign = new Set(foreignSections.map(({ collection }) => collection));
  for (const collection of foreign)
    for await (const documents of scanInPasses(store, { collection, fields })) {
      signal.throwIfAborted();
      for (const stored of documents) {
        const section = sections.find(
          (candidate) => candidate.collection === collection && isInSection(stored.partition, candidate),
        );
        if (section !== undefined) yield { section, collection, stored };
      }
    }
  const ownSections = sections.filter(
    ({ collection, references = [] }) => references.length > 0 && !foreign.has(collection),
  );
  yield* scanOwn(store, orgIds, ownSections, fields, signal);
}

export async function findAlong(store: MirroredStore, deletions: Deletions, signal: AbortSignal): Promise<void> {
  if (deletions.users().next().done === true) return;
  const ranges = [
    { kind: 'tokens', collection: 'tokens', fields: ['ownerId'] },
    { kind: 'instanceMembers', collection: 'members', partition: INSTANCE_MEMBERS, fields: ['body'] },
  ] as const;
  for (const { kind, ...range } of ranges)
    for await (const documents of scanInPasses(store, range)) {
      signal.throwIfAborted();
      for (const { id, body, ownerId = textAt(parseObject(body), 'userId', '') } of documents)
        if (deletions.has(documentPath(userKey(ownerId))))
          deletions.addAlong(kind, { collection: range.collection, id }, ownerId);
    }
}
