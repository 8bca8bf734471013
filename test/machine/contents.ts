import { expect } from 'vitest';
import { z } from 'zod';
import { recordSection } from '../../shared/organisation/allSections.ts';
import { credentialFields } from '../../shared/store/documentFields.ts';
import type { Store, StoredDocument } from '../../shared/store/store.ts';
import { type Database, readDatabase, recordCollections } from '../support/stores/database.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { type ModelRecord, placeOf } from './kinds.ts';
import { Model } from './model.ts';
import { sortedText } from './modelContent.ts';
import { storedRecord } from './modelFile.ts';

const object = z.record(z.string(), z.unknown());
const member = z.object({ userId: z.string(), roles: z.array(z.string()) });
const INSTANCE_MEMBERS = 'instanceMembers';
/** However many imports there were. */
const MAX_INSTANCE_DOCUMENTS = 100;

/** Reads a whole database into a model; its tokens have no secrets. */
export function modelOf(database: Database): Model {
  const model = new Model();
  for (const collection of recordCollections) {
    for (const document of database.get(collection) ?? []) {
      const body: unknown = JSON.parse(document.body ?? '');
      if (document.partition === INSTANCE_MEMBERS) {
        const { userId, roles } = member.parse(body);
        model.instanceRoles.set(userId, roles);
      } else {
        const record = recordOf(document, object.parse(body));
        model.records.set(placeOf(record), record);
      }
    }
  }
  for (const { id, ownerId = '' } of database.get('tokens') ?? [])
    model.tokens.set(id, { userId: ownerId, secret: '' });
  return model;
}

function recordOf(document: StoredDocument, json: Record<string, unknown>): ModelRecord {
  const { partition = '', orgId = '', otpEmail = false, sequence = 0, state } = document;
  const section = partition.slice(0, partition.indexOf('/'));
  const record = storedRecord(section, orgId, json);
  // A usual state may be in neither place.
  const stated = record.json.state ?? record.json.orgState;
  expect(state ?? stated, `the state of ${document.id}`).toBe(stated);
  const secrets = credentialFields.flatMap((name) => (document[name] === undefined ? [] : [[name, document[name]]]));
  return { ...record, secrets: Object.fromEntries(secrets), factor: otpEmail, sequence };
}

/** The whole content of a model, in a form in which equal models are equal. */
export function contentsOf({ records, instanceRoles, tokens }: Model): Record<string, string> {
  const entries = [
    ...[...records].map(([place, record]) => [place, contentOf(record)] as const),
    ...[...instanceRoles].map(([userId, roles]) => [`instanceMember ${userId}`, roles.join(' ')] as const),
    ...[...tokens].map(([id, { userId }]) => [`token ${id}`, userId] as const),
  ];
  return Object.fromEntries(entries);
}

/** A record's content as a text; only users count their changes. */
export function contentOf({ section, orgId, json, secrets, factor, sequence }: ModelRecord): string {
  const isUser = recordSection(section).collection === 'users';
  const content = { section, orgId, json, secrets, factor: factor === true };
  return sortedText(isUser ? { ...content, sequence } : content);
}

/** Expects that the database and the model have the same content, each record with its claims, and nothing else. */
export async function expectSame(store: Store, model: Model): Promise<void> {
  const database = await readDatabase(store);
  expect(contentsOf(modelOf(database))).toEqual(contentsOf(model));
  expectSound(database);
}

/** Expects that every claim has its record and every record its claims, and that imports leave only records. */
function expectSound(database: Database): void {
  expect(violationsOf(database)).toEqual([]);
  const instance = database.get('instance') ?? [];
  expect(instance.length, 'the documents of the instance itself').toBeLessThan(MAX_INSTANCE_DOCUMENTS);
}
