import { readRemovals } from '../../shared/accounts/runningRemovals.ts';
import type { LeftToDo } from '../../shared/exportFile/leftToDo.ts';
import { omittedOrganisations } from '../../shared/exportFile/leftToDoRules.ts';
import { parseObject, textAt } from '../../shared/json/jsonObject.ts';
import { organisationSection, sections } from '../../shared/organisation/allSections.ts';
import { serialise } from '../../shared/organisation/recordBody.ts';
import {
  foreignSections,
  isRequiredUser,
  requiresUser,
  selectDependents,
} from '../../shared/organisation/requiredRecords.ts';
import { isInSection, type Provider, type Section } from '../../shared/organisation/sections/section.ts';
import { deletionPartitions, machineUserSection } from '../../shared/organisation/sections/users.ts';
import type { FieldName } from '../../shared/store/documentFields.ts';
import { type Collection, documentId, type Snapshot, type StoredDocument } from '../../shared/store/store.ts';

type Documents = readonly StoredDocument[];

interface RecordOptions {
  /** Undefined if the file contains all organisations. */
  readonly isExported: ((orgId: string) => boolean) | undefined;
  readonly leftToDo: LeftToDo;
}

export class ExportedRecords {
  private readonly snapshot: Snapshot;
  private readonly options: RecordOptions;
  /** Looks up the id of the organisation that owns a project. */
  private readonly findOwners: Finder<string>;
  private readonly findProviders: Finder<Provider>;
  private deletions: ReturnType<typeof readDeletions> | undefined;

  constructor(snapshot: Snapshot, options: RecordOptions) {
    this.snapshot = snapshot;
    this.options = options;
    this.findOwners = createFinder(snapshot, 'projects', ['orgId'], ({ orgId = '' }) => orgId);
    this.findProviders = createFinder(snapshot, 'identityProviders', ['orgId', 'partition', 'body'], toProvider);
  }

  async convert(section: Section, stored: Documents): Promise<Documents> {
    const documents = await this.withoutDeleted(section, stored);
    if (documents.length === 0) return documents;
    await this.listOmitted(section, documents);
    return this.fill(section, documents);
  }

  /**
   * Omits records that require a user or an organisation whose deletion has begun. The export omits such users and
   * organisations, so an import could not create these records. If no deletion has begun, the check costs at most three
   * small reads.
   */
  private async withoutDeleted(section: Section, documents: Documents): Promise<Documents> {
    const mayNameUsers = section.references?.some(isRequiredUser) === true;
    if (!mayNameUsers && !foreignSections.includes(section)) return documents;
    this.deletions ??= readDeletions(this.snapshot);
    const { userIds, orgIds } = await this.deletions;
    if (userIds.size + orgIds.size === 0) return documents;
    const records = documents.map((stored) => ({ section, stored })).filter((record) => !requiresUser(record, userIds));
    const omitted = new Set(orgIds.size === 0 ? [] : await selectDependents(this.snapshot, orgIds, records));
    return records.filter((record) => !omitted.has(record)).map(({ stored }) => stored);
  }

  /**
   * Adds a manual step to `leftToDo` for each grant or member that refers to a project or an organisation outside the
   * file.
   */
  private async listOmitted(section: Section, documents: Documents): Promise<void> {
    const { isExported, leftToDo } = this.options;
    const { exported: { ofProject } = {}, references = [] } = section;
    const toOrganisation = references.find(({ collection }) => collection === organisationSection.collection);
    const organisationPath = toOrganisation?.key.at(-1);
    if (isExported === undefined || (ofProject ?? organisationPath) === undefined) return;
    const named = documents.map(({ body, orgId = '' }) => {
      const record = parseObject(body);
      const read = (path: string | undefined) => (path === undefined ? '' : textAt(record, path, orgId));
      return { projectId: read(ofProject), orgId: read(organisationPath) };
    });
    const owner = await this.findOwners(named.map(({ projectId }) => projectId));
    for (const [index, document] of documents.entries()) {
      const { projectId = '', orgId = '' } = named[index] ?? {};
      const ids = new Set([owner(projectId) ?? '', orgId]);
      const organisations = [...ids].filter((id) => id !== '' && !isExported(id));
      if (organisations.length > 0) leftToDo.add(omittedOrganisations, section, document, { organisations });
    }
  }

  /** Adds the fields that only ZITADEL's exports contain (see zitadel 4.3). */
  private async fill(section: Section, documents: Documents): Promise<Documents> {
    const { leftToDo } = this.options;
    const { providers } = section.exported ?? {};
    if (providers === undefined) return documents;
    // Load the message definitions only if they are needed: loading them takes a quarter of a cold start.
    const { fillForExport } = await import('../../shared/organisation/fillForExport.ts');
    const records = documents.map(({ body }) => parseObject(body));
    const provider = await this.findProviders(records.flatMap(providers));
    return documents.map((document, index) => {
      const { [index]: json = {} } = records;
      const { orgId = '' } = document;
      const isOwn = (id: string) => provider(id)?.orgId === orgId;
      const missing = providers(json).filter((id) => !isOwn(id));
      leftToDo.addMissingProviders(section, document, missing);
      const filled = fillForExport(section, json, orgId, (id) => (isOwn(id) ? provider(id) : undefined));
      return filled === undefined ? document : { ...document, ...serialise(filled) };
    });
  }
}

function toProvider({ orgId = '', partition, body }: StoredDocument): Provider {
  const type = sections.find((section) => isInSection(partition, section))?.exported?.providerType;
  return { orgId, name: textAt(parseObject(body), 'idp.name', ''), type };
}

/** Reads the ids of the users and organisations whose deletion has begun but not ended. */
async function readDeletions(snapshot: Snapshot) {
  const orgIds = await readRemovals(snapshot);
  const userIds = new Set<string>();
  const { collection } = machineUserSection;
  for await (const users of snapshot.scan({ collection, partitions: deletionPartitions, fields: ['body'] }))
    for (const { body } of users) userIds.add(textAt(parseObject(body), 'userId', ''));
  return { userIds, orgIds };
}

/**
 * Reads documents by their ids, and returns a function that looks up the facts about a document by its id. Each call
 * may clear the cache, so do not use a function from an earlier call.
 */
type Finder<Fact> = (ids: readonly string[]) => Promise<(id: string) => Fact | undefined>;

const MAX_CACHED = 10_000;

/**
 * Creates a finder that caches facts about documents, because many records refer to the same few documents.
 * @param toFact returns the facts to cache, because a whole document may be large
 */
function createFinder<Fact>(
  snapshot: Snapshot,
  collection: Collection,
  fields: readonly FieldName[],
  toFact: (document: StoredDocument) => Fact,
): Finder<Fact> {
  const cached = new Map<string, Fact | undefined>();
  return async (ids) => {
    if (cached.size > MAX_CACHED) cached.clear();
    const unread = [...new Set(ids)].filter((id) => !cached.has(id));
    const keys = unread.map((id) => ({ collection, id: documentId(id) }));
    const documents = keys.length === 0 ? [] : await snapshot.getMany(keys, fields);
    for (const [index, document] of documents.entries())
      cached.set(unread[index] ?? '', document === undefined ? undefined : toFact(document));
    return (id) => cached.get(id);
  };
}
