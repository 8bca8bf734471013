import { z } from 'zod';
import { temporaryKeyring } from '../../shared/store/secrets/keyring.ts';
import { type Connection, connect } from '../../shared/store/sqlite/connection.ts';
import { prepareDatabaseFile } from '../../shared/store/sqlite/databaseFile.ts';
import { RawText } from './rawText.ts';
import { type CreateWrite, sampleWrites } from './sample.ts';
import { type Measured, measure } from './task.ts';

/** A user's document and its claim, of as many users as an import commits at once. */
const WRITES_PER_TRANSACTION = 2 * 1_000;
const INSERT_USER = `INSERT INTO documents (collection, id, version, "partition", "orgId", "body", "digest", "passwordHash",
  "sealedTotpSeed", "state", "sequence", "createdAt", "changedAt") VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_CLAIM = 'INSERT INTO documents (collection, id, version, "orgId", "ownerId") VALUES (?, ?, 1, ?, ?)';
const SELECT = `SELECT "body", "passwordHash", "sealedTotpSeed" FROM documents
  WHERE collection IN ('users', 'userGrants', 'userMetadata') ORDER BY collection, id`;

const rowSchema = z.tuple([z.string(), z.string().nullable(), z.string().nullable()]);

/** Measures the ceiling for an import into SQLite: its writes alone, by plain prepared statements. */
export async function rawSqliteWrite(file: string, users: number): Promise<Measured> {
  prepareDatabaseFile(file, temporaryKeyring());
  const database = open(file);
  const batches = sampleWrites(users, WRITES_PER_TRANSACTION);
  const insertUser = database.prepare(INSERT_USER);
  const insertClaim = database.prepare(INSERT_CLAIM);
  const insert = ({ key, fields: f }: CreateWrite) => {
    if (key.collection === 'claims') insertClaim.run(key.collection, key.id, f.orgId ?? null, f.ownerId ?? null);
    else insertUser.run(key.collection, key.id, ...userColumns(f));
  };
  const measured = await measure(() => {
    for (const batch of batches) {
      database.run('BEGIN IMMEDIATE');
      batch.forEach(insert);
      database.run('COMMIT');
    }
    return users;
  });
  database.close();
  return measured;
}

function userColumns(f: CreateWrite['fields']): (string | number | null)[] {
  const { partition, orgId, body, digest, passwordHash, totpSeed, state, sequence, createdAt, changedAt } = f;
  const values = [partition, orgId, body, digest, passwordHash, totpSeed, state, sequence, createdAt, changedAt];
  return values.map((value) => value ?? null);
}

/** Measures the ceiling for an export from SQLite: one scan, rendered as the same text. */
export async function rawSqliteRead(file: string): Promise<Measured> {
  const database = open(file);
  const statement = database.prepare(SELECT);
  rowSchema.parse(statement.get());
  const measured = await measure(() => {
    const text = new RawText();
    const rows: Iterable<unknown> = statement.iterate();
    for (const row of rows) text.add(storedColumns(row));
    text.end();
    return text.users;
  });
  database.close();
  return measured;
}

function storedColumns(row: unknown) {
  if (!Array.isArray(row)) return {};
  const [body, passwordHash, totpSeed]: unknown[] = row;
  if (typeof body !== 'string') return {};
  if (typeof passwordHash !== 'string') return { body };
  return typeof totpSeed === 'string' ? { body, passwordHash, totpSeed } : { body, passwordHash };
}

/** Opens the file as the product does: the settings of a connection decide what a commit costs. */
function open(file: string): Connection {
  return connect({ file, busyTimeout: 0 });
}
