import { TemporaryDatabase } from '../../shared/collections/temporaryDatabase.ts';
import { type ExportFileItem, ExportFileReader, type FieldFilter } from '../../shared/exportFile/reader.ts';
import { isJsonObject, type JsonObject, textAt } from '../../shared/json/jsonObject.ts';
import { findSection, sections } from '../../shared/organisation/allSections.ts';
import { chunksInTurns } from '../../shared/turns.ts';
import type { ExportFile } from './placeInterfaces.ts';

export interface OwnedItem extends ExportFileItem {
  readonly orgId: string;
}

/**
 * Yields a list of items for each chunk of bytes in the file.
 * @throws Error if an organisation does not begin with the field `orgId`, which all exports write first
 */
export async function* readItems(
  file: ExportFile,
  signal: AbortSignal,
  isWanted: FieldFilter,
): AsyncGenerator<readonly OwnedItem[]> {
  const reader = new ExportFileReader(isWanted);
  let [orgId, organisation] = ['', -1];
  const toOwned = (item: ExportFileItem): OwnedItem => {
    if (item.name === 'orgId') [orgId, organisation] = [String(item.value), item.organisation ?? -1];
    else if (item.organisation !== undefined && item.organisation !== organisation)
      throw new Error(`organisation ${item.organisation} does not begin with its id`);
    return { ...item, orgId };
  };
  for await (const chunk of chunksInTurns(file.open(signal))) {
    signal.throwIfAborted();
    yield reader.push(chunk).map(toOwned);
  }
  reader.end();
}

/** Returns the record that an item contains. Returns an empty object if the item is not a record. */
export function recordOf({ value }: ExportFileItem): JsonObject {
  return isJsonObject(value) ? value : {};
}

type Owned = 'project' | 'provider';

/** The projects and identity providers of a file, each with the organisation to which it belongs. */
export class Owners implements Disposable {
  private readonly database = new TemporaryDatabase(
    'CREATE TABLE owners (kind TEXT, orgId TEXT, id TEXT, PRIMARY KEY (kind, orgId, id)) STRICT, WITHOUT ROWID',
  );

  add(kind: Owned, orgId: string, id: string): void {
    this.database.run('INSERT OR IGNORE INTO owners VALUES (?, ?, ?)', kind, orgId, id);
  }

  has(kind: Owned, orgId: string, id: string): boolean {
    const sql = 'SELECT 1 FROM owners WHERE kind = ? AND orgId = ? AND id = ?';
    return this.database.statement(sql).get(kind, orgId, id) !== undefined;
  }

  [Symbol.dispose](): void {
    this.database[Symbol.dispose]();
  }
}

const ownedKinds: ReadonlyMap<string, Owned> = new Map(
  sections.flatMap(({ name, exported }): [string, Owned][] => {
    if (name === 'projects') return [[name, 'project']];
    return exported?.providerType === undefined ? [] : [[name, 'provider']];
  }),
);

export async function readOwners(file: ExportFile, signal: AbortSignal): Promise<Owners> {
  const owners = new Owners();
  const isWanted = (name: string) => name === 'orgId' || ownedKinds.has(name);
  for await (const items of readItems(file, signal, isWanted))
    for (const item of items) {
      const kind = ownedKinds.get(item.name);
      const [path = ''] = findSection(item.name)?.key ?? [];
      if (kind !== undefined) owners.add(kind, item.orgId, textAt(recordOf(item), path, ''));
    }
  return owners;
}
