import { hash } from 'node:crypto';
import { z } from 'zod';
import type { TemporaryDatabase } from '../../../shared/collections/temporaryDatabase.ts';
import { defined } from '../../../shared/defined.ts';
import { recordNoun } from '../../../shared/errors/nouns.ts';
import { zitadelHistoryIncomplete } from '../../../shared/errors/placeErrors.ts';
import type { RecordVisitor } from '../../../shared/exportFile/inspection.ts';
import { type JsonObject, textAt } from '../../../shared/json/jsonObject.ts';
import { organisationSection, recordSections } from '../../../shared/organisation/allSections.ts';
import type { OrganisationRecord } from '../../../shared/organisation/record.ts';
import { planReferences, recordKey } from '../../../shared/organisation/recordPlan.ts';
import type { Reference } from '../../../shared/organisation/relations.ts';
import { humanUserSection } from '../../../shared/organisation/sections/users.ts';
import { documentPath } from '../../../shared/store/store.ts';
import { readOrganisations } from '../organisationEvents.ts';
import { creationEvent, type EventStream, type IdSpace, recordKinds } from '../recordKinds.ts';
import type { ZitadelConnection } from '../zitadelConnection.ts';
import { type EventTime, oldestEvent, readEvents, readEventsOf, type ZitadelEvent } from '../zitadelEvents.ts';
import type { ClaimedId, IdOwner } from './ownership.ts';

// The command reads the owners of ids from events, because ZITADEL's searches show changes late and do not show deleted
// records.

const TABLES = `
  CREATE TABLE ids (space TEXT, id TEXT, orgId TEXT, noun TEXT, aggregateId TEXT, parentId TEXT,
    openTo TEXT, createdAt INTEGER, isRemoved INTEGER, PRIMARY KEY (space, id)) STRICT, WITHOUT ROWID;
  CREATE INDEX aggregates ON ids (space, aggregateId);
  CREATE INDEX idParents ON ids (space, parentId);
  CREATE TABLE userNames (userId TEXT PRIMARY KEY, orgId TEXT, digest BLOB, createdAt INTEGER) STRICT, WITHOUT ROWID;
  CREATE INDEX userNameDigests ON userNames (digest);
  CREATE TABLE organisations (id TEXT PRIMARY KEY, name TEXT, removedAt INTEGER, isDeleted INTEGER,
    loginNamesByDomain INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE fileOrganisations (id TEXT PRIMARY KEY, name TEXT) STRICT, WITHOUT ROWID`;

const ownerRow = z.object({
  orgId: z.string(),
  noun: z.string(),
  openTo: z.string().nullable(),
  aggregateId: z.string().nullable(),
  isRemoved: z.number(),
  goneWithOrganisation: z.number(),
  createdAt: z.number().nullable(),
});
const idRow = z.object({ id: z.string() });
const nameRow = z.object({ name: z.string() });
const namedUserRow = z.object({
  userId: z.string(),
  orgId: z.string(),
  loginNamesByDomain: z
    .number()
    .nullable()
    .transform((value) => (value === null ? undefined : value === 1)),
});
const countRow = z.object({ ids: z.number() });

interface SpaceId {
  readonly space: IdSpace;
  readonly name: string;
  readonly id: string;
}

/**
 * The id spaces. An id space is a set of ids in which each id belongs to at most one record. The keys are the
 * collections of the records. Keys of service users and keys of applications share an id space.
 */
const spaces: ReadonlyMap<string, IdSpace> = new Map(
  recordSections.flatMap(({ name, collection }): [string, IdSpace][] => {
    const { ids } = recordKinds[name];
    return ids === 'none' ? [] : [[collection, ids]];
  }),
);

/** True if the ids of an id space are ids of aggregates. If they are not, the events of a single id cannot be read. */
function isOfAggregates({ fields }: IdSpace): boolean {
  return fields === undefined;
}

/**
 * Returns the id at the end of a path, with its id space. Returns undefined if records of the collection have no ids of
 * their own.
 */
function idOf(path: string): SpaceId | undefined {
  const end = path.indexOf('/');
  const space = spaces.get(path.slice(0, end));
  return space === undefined ? undefined : { space, name: nameOf(space), id: decodeURIComponent(path.slice(end + 1)) };
}

/** True if the ids of a space are ids of users. The events about users contain the user names. */
function isOfUsers({ streams }: IdSpace): boolean {
  return streams.some(({ renamed }) => renamed !== undefined);
}

function nameOf(space: IdSpace): string {
  return [...spaces].find(([, other]) => other === space)?.[0] ?? '';
}

/**
 * True if a reference shows that the referring record is a part of the other record. Both records must then belong to
 * the same organisation. A person's link is not a part of an identity provider, because the provider may belong to the
 * instance.
 */
export function isOwnReference({ collection, ifForeign, permittedBy }: Reference): boolean {
  return ifForeign !== undefined && permittedBy === undefined && collection !== 'identityProviders';
}

/** Finds out to which records of ZITADEL the ids in a file belong. Stores the ids in tables of the run's database. */
export class IdOwners implements RecordVisitor {
  private readonly database: TemporaryDatabase;
  /** For each stream of events, the time of the newest event that has been read. */
  private readonly readTo = new Map<EventStream, EventTime>();
  private hasFirstEvent = false;

  constructor(database: TemporaryDatabase) {
    this.database = database;
    database.create(TABLES);
  }

  /** The time of the newest event about users that has been read. Undefined if no such event has been read. */
  get usersReadTo(): EventTime | undefined {
    const [stream] = spaces.get(humanUserSection.collection)?.streams ?? [];
    return stream && this.readTo.get(stream);
  }

  /**
   * Adds the id of a record of the file, the ids of records of which it is a part, and the ids of users to which it
   * refers. Ignores an invalid record, because the import does not send it.
   */
  add(record: OrganisationRecord): void {
    if (record.invalid !== undefined) return;
    if (record.section === organisationSection)
      this.database.run(FILE_ORGANISATION, record.orgId, textAt(record.json, 'org.name', record.orgId));
    const { collection: users } = humanUserSection;
    const targets = planReferences(record).filter(
      ({ reference }) => isOwnReference(reference) || reference.collection === users,
    );
    for (const key of [recordKey(record), ...targets.map((target) => target.key)]) {
      const spaceId = idOf(documentPath(key));
      if (spaceId !== undefined)
        this.database.run('INSERT OR IGNORE INTO ids (space, id) VALUES (?, ?)', spaceId.name, spaceId.id);
    }
  }

  /**
   * Returns the users in ZITADEL that have the given user name, regardless of case. For each user, `loginNamesByDomain`
   * comes from the domain policy of the user's organisation. The result can be incomplete if the instance has many more
   * users than the file.
   */
  usersNamed(userName: string): readonly z.infer<typeof namedUserRow>[] {
    return this.database.all(USERS_NAMED, digestOf(userName)).map((columns) => namedUserRow.parse(columns));
  }

  reset(): void {
    for (const table of ['ids', 'fileOrganisations']) this.database.run(`DELETE FROM ${table}`);
  }

  /**
   * Finds the owners of all added ids. To do this, reads the events of the whole instance. If there are more pages of
   * events than ids in the file, reads the events of each id separately. This is possible only if the ids are ids of
   * aggregates. A second call reads only later events. Discards the reservations that `claim` has made.
   * @throws IdentityError ZITADEL_HISTORY_INCOMPLETE if the instance does not return its first event
   */
  async read(connection: ZitadelConnection): Promise<void> {
    const isCreation = { aggregateTypes: ['instance'], eventTypes: ['instance.added'] };
    this.hasFirstEvent ||= (await oldestEvent(connection, isCreation)) !== undefined;
    if (!this.hasFirstEvent) throw zitadelHistoryIncomplete({ url: connection.origin });
    this.database.run(`${FORGET} WHERE createdAt = ?`, CLAIMED_AT);
    await this.readOrganisations(connection);
    for (const space of new Set(spaces.values())) await this.readSpace(connection, space);
  }

  /** Updates the owners of the ids in the given paths. The ids must be ids of aggregates. */
  async refreshIds(connection: ZitadelConnection, paths: readonly string[]): Promise<void> {
    const aggregateIds = paths.map(idOf).filter((aggregateId) => aggregateId !== undefined);
    for (const [space, ids] of Map.groupBy(aggregateIds, ({ space }) => space)) {
      for (const { name, id } of ids) this.database.run(`${FORGET} WHERE space = ? AND id = ?`, name, id);
      await this.readIds(
        connection,
        space,
        ids.map(({ id }) => id),
      );
    }
  }

  /**
   * Reserves an id that is free in ZITADEL for a record of the file. Records of other organisations in the file can
   * then no longer use this id.
   */
  claim(path: string, { orgId, noun }: ClaimedId): void {
    const spaceId = idOf(path);
    if (spaceId === undefined) return;
    const sql = 'UPDATE ids SET orgId = ?, noun = ?, isRemoved = 0, createdAt = ? WHERE space = ? AND id = ?';
    this.database.run(sql, orgId, noun, CLAIMED_AT, spaceId.name, spaceId.id);
  }

  private async readOrganisations(connection: ZitadelConnection): Promise<void> {
    for (const organisation of (await readOrganisations(connection)).values()) {
      const { orgId, name, deletedAt, isDeleted, loginNamesByDomain: isByDomain } = organisation;
      const scope = isByDomain === undefined ? null : Number(isByDomain);
      this.database.run(ORGANISATION, orgId, name, deletedAt ?? null, Number(isDeleted), scope);
    }
  }

  private async readSpace(connection: ZitadelConnection, space: IdSpace): Promise<void> {
    const name = nameOf(space);
    const { ids } = countRow.parse(
      this.database.statement('SELECT count(*) AS ids FROM ids WHERE space = ?').get(name),
    );
    if (ids === 0) return;
    // Reading the events of one aggregate takes about as much time as reading a page of events. So reading more pages
    // than there are ids is not worth it.
    const maxPages = isOfAggregates(space) ? ids : Number.POSITIVE_INFINITY;
    for (const stream of space.streams) {
      const { aggregateType, created, removed, removedAggregate, removedParent, renamed = [] } = stream;
      const ends = [removedAggregate, removedParent].filter((type) => type !== undefined);
      const query = { aggregateTypes: [aggregateType], eventTypes: [...created, ...removed, ...ends, ...renamed] };
      let pages = 0;
      for await (const page of readEvents(connection, { ...query, after: this.readTo.get(stream) })) {
        for (const event of page) this.apply(space, event);
        this.readTo.set(stream, page.at(-1)?.createdAt ?? 0n);
        if (++pages >= maxPages) return await this.readAggregates(connection, space);
      }
    }
  }

  private async readAggregates(connection: ZitadelConnection, space: IdSpace): Promise<void> {
    const name = nameOf(space);
    this.database.run(`${FORGET} WHERE space = ?`, name);
    if (isOfUsers(space)) this.database.run('DELETE FROM userNames');
    const rows = this.database.statement('SELECT id FROM ids WHERE space = ?').all(name);
    await this.readIds(
      connection,
      space,
      rows.map((columns) => idRow.parse(columns).id),
    );
  }

  private async readIds(connection: ZitadelConnection, space: IdSpace, ids: readonly string[]): Promise<void> {
    const [stream] = space.streams;
    if (stream === undefined) return;
    const { aggregateType, created, removed, renamed = [] } = stream;
    const query = { aggregateTypes: [aggregateType], eventTypes: [...created, ...removed, ...renamed] };
    for (const events of (await readEventsOf(connection, ids, query)).values())
      for (const event of events) this.apply(space, event);
  }

  /** The first record that is created with an id owns the id until the record is removed. */
  private apply(space: IdSpace, event: ZitadelEvent): void {
    const { aggregateId, owner, type, payload, createdAt } = event;
    const name = nameOf(space);
    const { fields = [], parentField = '', openTo = '', nouns, streams } = space;
    const text = (field: string) => (typeof payload[field] === 'string' ? payload[field] : null);
    const id = isOfAggregates(space) ? aggregateId : fields.map(text).find((value) => value !== null);
    const is = (list: (stream: (typeof streams)[number]) => readonly (string | undefined)[]) =>
      streams.some((stream) => stream.aggregateType === event.aggregateType && list(stream).includes(type));
    if (is(({ created }) => created) && id !== undefined && id !== null) {
      const noun = nouns?.[type] ?? recordNoun(name);
      const values = [owner, noun, aggregateId, text(parentField), text(openTo), createdAt, name, id];
      this.database.run(OWN, ...values);
    }
    const remove = (column: string, value: string | null | undefined) =>
      this.database.run(
        `UPDATE ids SET isRemoved = 1 WHERE space = ? AND ${column} = ? AND isRemoved = 0`,
        name,
        value ?? null,
      );
    if (is(({ removed }) => removed)) remove('id', id);
    if (is(({ removedAggregate }) => [removedAggregate])) remove('aggregateId', aggregateId);
    if (is(({ removedParent }) => [removedParent])) remove('parentId', text('appId'));
    if (isOfUsers(space))
      this.applyUserName(
        event,
        is(({ removed }) => removed),
      );
  }

  private applyUserName({ aggregateId, owner, payload: { userName }, createdAt }: ZitadelEvent, isRemoval: boolean) {
    if (isRemoval) this.database.run('DELETE FROM userNames WHERE userId = ?', aggregateId);
    else if (typeof userName === 'string') this.database.run(NAME, aggregateId, owner, digestOf(userName), createdAt);
  }

  /**
   * Returns the name of an organisation that ZITADEL has or had, or that is in the file. Returns undefined for the id
   * of the instance.
   */
  organisationName(orgId: string): string | undefined {
    const columns = this.database.statement(ORGANISATION_NAME).get(orgId, orgId);
    return columns === undefined ? undefined : nameRow.parse(columns).name;
  }

  get deletedOrganisations(): readonly string[] {
    return this.database.all(DELETED_ORGANISATIONS).map((columns) => idRow.parse(columns).id);
  }

  /** Whether `claim` has reserved the id in a path. Always false if the id is not the id of an aggregate. */
  isClaimed(path: string): boolean {
    const spaceId = idOf(path);
    if (spaceId === undefined || !isOfAggregates(spaceId.space)) return false;
    const sql = 'SELECT 1 FROM ids WHERE space = ? AND id = ? AND createdAt = ?';
    return this.database.statement(sql).get(spaceId.name, spaceId.id, CLAIMED_AT) !== undefined;
  }

  /**
   * Returns the record that has or had the id in a path. Returns undefined if there was no such record, or if records
   * of this kind have no ids of their own.
   */
  ownerOf(path: string): IdOwner | undefined {
    const spaceId = idOf(path);
    if (spaceId === undefined) return undefined;
    const columns = this.database.statement(OWNER).get(spaceId.name, spaceId.id);
    if (columns === undefined) return undefined;
    const { orgId, noun, openTo, aggregateId, isRemoved, goneWithOrganisation, createdAt } = ownerRow.parse(columns);
    const state = isRemoved === 1 ? 'deleted' : goneWithOrganisation === 1 ? 'deletedWithOrganisation' : 'live';
    const isOfFile = createdAt === CLAIMED_AT ? ({ isOfFile: true } as const) : {};
    return { orgId, noun, state, aggregateId: aggregateId ?? '', openTo: openTo ?? undefined, ...isOfFile };
  }
}

/** The time of creation that is stored for a reserved id. It is later than any deletion of an organisation. */
const CLAIMED_AT = Number.MAX_SAFE_INTEGER;
/** An SQL expression. It is true if the organisation that owns an id was deleted after the id's record was created. */
const GONE = 'coalesce((SELECT removedAt > createdAt FROM organisations WHERE organisations.id = orgId), 0)';
const FORGET =
  'UPDATE ids SET orgId = NULL, noun = NULL, aggregateId = NULL, parentId = NULL, openTo = NULL, createdAt = NULL, isRemoved = NULL';
const ORGANISATION = 'INSERT OR REPLACE INTO organisations VALUES (?, ?, ?, ?, ?)';
const FILE_ORGANISATION = 'INSERT OR IGNORE INTO fileOrganisations (id, name) VALUES (?, ?)';
const ORGANISATION_NAME = `
  SELECT name FROM organisations WHERE id = ? UNION ALL SELECT name FROM fileOrganisations WHERE id = ? LIMIT 1`;
const DELETED_ORGANISATIONS =
  'SELECT id FROM fileOrganisations JOIN organisations USING (id) WHERE isDeleted = 1 ORDER BY id';
const OWN = `
  UPDATE ids SET orgId = ?, noun = ?, aggregateId = ?, parentId = ?, openTo = ?, createdAt = ?, isRemoved = 0
  WHERE space = ? AND id = ? AND (orgId IS NULL OR isRemoved = 1 OR ${GONE})`;
const NAME = `
  INSERT INTO userNames VALUES (?, ?, ?, ?) ON CONFLICT (userId) DO UPDATE SET digest = excluded.digest`;
const USERS_NAMED = `
  SELECT userId, orgId, (SELECT loginNamesByDomain FROM organisations WHERE id = orgId) AS loginNamesByDomain
  FROM userNames WHERE digest = ? AND NOT ${GONE}`;
const OWNER = `
  SELECT orgId, noun, openTo, aggregateId, isRemoved, ${GONE} AS goneWithOrganisation, createdAt FROM ids
  WHERE space = ? AND id = ? AND orgId IS NOT NULL`;

function digestOf(userName: string): Buffer {
  return hash('sha256', userName.toLowerCase(), 'buffer');
}

/**
 * Returns facts about a record's id, with which `decideOwnership` decides whether the import may use the id. Returns
 * undefined for a record without an id of its own.
 * @param readJson returns the record's JSON. Called only if a record with the same id was deleted
 */
export function claimedId(
  { section, orgId }: Pick<OrganisationRecord, 'section' | 'orgId'>,
  owner: IdOwner | undefined,
  readJson: () => JsonObject,
): ClaimedId | undefined {
  const { name, collection } = section;
  const space = spaces.get(collection);
  if (space === undefined) return undefined;
  const noun = recordNoun(space.nouns === undefined ? collection : name);
  const path = owner?.state === 'deleted' && space.isUsedOnce === true ? creationEvent(name)?.aggregateId : undefined;
  const usedOnceIn = path === undefined ? undefined : textAt(readJson(), path, orgId);
  return { orgId, noun, isAggregate: isOfAggregates(space), ...defined({ usedOnceIn }) };
}
