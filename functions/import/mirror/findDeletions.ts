// Finds the records that are in the organisations of a file but not in the file.

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

/** Collects the keys of a file's records. */
export function keyCollector(deletions: Deletions): RecordVisitor {
  return {
    add: (record) => {
      if (record.invalid === undefined) deletions.addFileRecord(documentPath(recordKey(record)));
    },
    reset: () => deletions.resetFile(),
  };
}

/** The database whose organisations an import mirrors. */
export type MirroredStore = Pick<Store, 'snapshot'> & Reader;

/** A file that an import mirrors. */
export interface MirroredFile {
  readonly inspection: Inspection;
  readonly settings: ImportSettings;
  readonly signal: AbortSignal;
}

/** A record that cannot be deleted, because a record outside the file refers to it. */
export interface Obstacle {
  readonly key: DocumentKey;
  readonly referring: StoredDocument;
}

/**
 * Finds the stored records that are in the file's organisations but not in the file.
 * @param existing the ids of the file's organisations that exist
 * @throws IdentityError FAILED_PRECONDITION if records were created or changed in this instance
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
 * Returns the organisations of the file that exist. Requires that none of them was last imported from a newer file.
 * @throws IdentityError FAILED_PRECONDITION, also for the default organisation unless the request lists its id
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
    const found = await store.getMany(batch.map(organisationKey), ['lastImport']);
    for (const [index, orgId] of batch.entries()) {
      const stored = found[index];
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
            ? 'an unknown file or several files, or records were removed after it'
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
 * The maximum number of organisations to read separately. For more organisations, the import scans all organisations of
 * the instance.
 */
const MAX_SEPARATE = 20;

/** Reads the stored records of the given sections and organisations. */
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
          const section = ofCollection.find((one) => isInSection(stored.partition, one));
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
 * Finds the records that require records to delete. Three kinds are no obstacles. They are other records to delete,
 * records of the file (their new versions refer to no deleted records), and keys (the import deletes them too). All
 * other records are obstacles, even if their reference is optional. The import can also delete the stored version of a
 * record of the file first, if the file contains every record that requires it.
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
    // A key that the file does not contain is deleted together with the record that it requires.
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
    if (isMirrored && !deletions.has(path)) deletions.addHolder({ key, section, orgId });
  }
  await findHolding(store, existing, file, deletions);
  return [...obstacles.values()];
}

/**
 * Finds the records that require a holder. A holder is a record of the file whose stored version requires records to
 * delete. If the file does not contain a record that requires a holder, the import keeps the holder until the file's
 * records are written. It also keeps the records that the holder requires.
 */
async function findHolding(
  store: MirroredStore,
  existing: ReadonlySet<string>,
  file: MirroredFile,
  deletions: Deletions,
): Promise<void> {
  const required = new Set(Array.from(deletions.holderSections(), ({ collection }) => collection));
  const isReferring = ({ references = [] }: Section) => references.some(({ collection }) => required.has(collection));
  if (!sections.some(isReferring)) return;
  const mirrored = mirroredSections(file);
  for await (const { section, collection, stored } of scanRequiring(store, existing, file.signal)) {
    const { orgId = '', body, id } = stored;
    const key = { collection, id };
    const path = documentPath(key);
    const holders = planReferences({ section, json: parseObject(body), orgId })
      .map((reference) => documentPath(reference.key))
      .filter((target) => deletions.isHolder(target));
    const isReplaceable = deletions.has(path) || (existing.has(orgId) && mirrored.has(section));
    for (const holder of holders) {
      if (isReplaceable) deletions.addRequirement(path, holder);
      else deletions.hold(holder);
    }
    if (holders.length > 0 && isReplaceable && !deletions.has(path)) deletions.addHolder({ key, section, orgId });
  }
}

/**
 * Whether the file contains this stored record, but without a field. The import completes that field from another
 * stored record, which is not deleted.
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
 * Reads the records that may require records of the organisations: their own records, and records of other
 * organisations in sections that permit foreign references.
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
        const section = sections.find((one) => one.collection === collection && isInSection(stored.partition, one));
        if (section !== undefined) yield { section, collection, stored };
      }
    }
  const own = sections.filter(({ collection, references = [] }) => references.length > 0 && !foreign.has(collection));
  yield* scanOwn(store, orgIds, own, fields, signal);
}

/** Finds the tokens and instance roles of the users to delete; they are deleted with their users. */
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
