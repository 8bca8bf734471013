import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { databaseFormatUnsupported, formatText } from '../errors/storeErrors.ts';
import { parseObject } from '../json/jsonObject.ts';
import type { DocumentKey, Reader, StoredDocument, Write } from './store.ts';

/**
 * The number of the database format that this version reads and writes. The instance's document contains it, and so
 * does the file of an embedded database. No two formats have the same number;
 * `docs/decisions/0012-formats-of-databases.md` describes how to add a format.
 */
export const FORMAT = 14;

/** The key of the document that describes the instance. `identity init` creates this document. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

const instanceBody = z.object({
  name: z.string().default('unnamed'),
  format: z.number().optional(),
  userLoginMustBeDomain: z.boolean().default(false),
  id: z.string().optional(),
});

export interface InstanceDescription {
  /** The name of the instance; `unnamed` before `identity init`. */
  readonly instance: string;
  /** Undefined before `identity init`. */
  readonly defaultOrgId: string | undefined;
  /**
   * The random id of the instance, which does not depend on its address. Undefined before `identity init`, or if an
   * earlier version initialised the instance.
   */
  readonly instanceId?: string | undefined;
  /**
   * True if login names contain the domain of their organisation. This applies to organisations without a domain
   * policy. `identity init` sets the value permanently.
   */
  readonly loginNamesByDomain: boolean;
}

export interface NewInstance {
  readonly name: string;
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

export function newIdWrite({ body = '{}' }: StoredDocument): Write {
  return {
    type: 'update',
    key: instanceKey,
    fields: { body: JSON.stringify({ ...parseObject(body), id: randomUUID() }) },
  };
}

/** Returns the id of the default organisation; an empty text before `identity init`. */
export async function readDefaultOrganisation(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.orgId ?? '';
}

/** @throws IdentityError UNAVAILABLE if the database has another format */
export async function checkFormat(reader: Reader): Promise<void> {
  const [instance] = await reader.getMany([instanceKey], ['body']);
  requireInstanceFormat(instance);
}

/**
 * @param instance undefined before `identity init`; such a database cannot have another format
 * @throws IdentityError UNAVAILABLE if the instance's document contains another format
 */
export function requireInstanceFormat(instance: StoredDocument | undefined): void {
  const { format } = parseInstanceBody(instance);
  if (instance !== undefined && format !== FORMAT)
    throw databaseFormatUnsupported({ format: formatText(format), supported: FORMAT });
}

function parseInstanceBody(instance: StoredDocument | undefined): z.infer<typeof instanceBody> {
  return instanceBody.parse(JSON.parse(instance?.body ?? '{}'));
}
