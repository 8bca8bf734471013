// The document that describes an instance, and the format of its database.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { databaseFormatUnsupported, formatText } from '../errors/storeErrors.ts';
import { parseObject } from '../json/jsonObject.ts';
import type { DocumentKey, Reader, StoredDocument, Write } from './store.ts';

/**
 * The format of databases that this version reads and writes. The instance's document contains the format's number, and
 * so does the file of an embedded database. A number is never reused; `docs/decisions/0012-formats-of-databases.md`
 * describes how to add the next format.
 */
export const FORMAT = 14;

/** The key of the document that describes the instance; `identity init` creates it. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

const instanceBody = z.object({
  name: z.string().default('unnamed'),
  format: z.number().optional(),
  userLoginMustBeDomain: z.boolean().default(false),
  id: z.string().optional(),
});

/** An instance's name, its default organisation and its settings. */
export interface InstanceDescription {
  /** The name; `unnamed` before `identity init`. */
  readonly instance: string;
  /** Undefined before `identity init`. */
  readonly defaultOrgId: string | undefined;
  /**
   * The same id at all addresses of the instance; undefined before `identity init`, or if an earlier version
   * initialised the instance.
   */
  readonly instanceId?: string | undefined;
  /**
   * Whether login names contain the domain of an organisation that has no domain policy; `identity init` sets this
   * permanently.
   */
  readonly loginNamesByDomain: boolean;
}

export interface NewInstance {
  readonly name: string;
  /** Whether login names contain the domain of an organisation that has no domain policy; by default false. */
  readonly loginNamesByDomain?: boolean;
}

export async function describeInstance(reader: Reader): Promise<InstanceDescription> {
  const [document] = await reader.getMany([instanceKey]);
  const { name, id, userLoginMustBeDomain } = parseInstanceBody(document);
  return {
    instance: name,
    defaultOrgId: document?.orgId,
    instanceId: id,
    loginNamesByDomain: userLoginMustBeDomain,
  };
}

export function newInstanceBody({ name, loginNamesByDomain = false }: NewInstance): string {
  return JSON.stringify({ name, format: FORMAT, id: randomUUID(), userLoginMustBeDomain: loginNamesByDomain });
}

/** Creates the write that replaces the id of a copied instance. */
export function newIdWrite({ body = '{}' }: StoredDocument): Write {
  return {
    type: 'update',
    key: instanceKey,
    fields: { body: JSON.stringify({ ...parseObject(body), id: randomUUID() }) },
  };
}

/** Returns the id of the instance's default organisation; empty before `identity init`. */
export async function readDefaultOrganisation(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.orgId ?? '';
}

/**
 * Reads the instance's document, and checks its format.
 * @throws IdentityError UNAVAILABLE for another format
 */
export async function checkFormat(reader: Reader): Promise<void> {
  const [instance] = await reader.getMany([instanceKey], ['body']);
  requireInstanceFormat(instance);
}

/**
 * Checks the format in the instance's document.
 * @param instance undefined before `identity init`: a database without an instance cannot have another format
 * @throws IdentityError UNAVAILABLE for another format
 */
export function requireInstanceFormat(instance: StoredDocument | undefined): void {
  const { format } = parseInstanceBody(instance);
  if (instance !== undefined && format !== FORMAT)
    throw databaseFormatUnsupported({ format: formatText(format), supported: FORMAT });
}

function parseInstanceBody(instance: StoredDocument | undefined): z.infer<typeof instanceBody> {
  return instanceBody.parse(JSON.parse(instance?.body ?? '{}'));
}
