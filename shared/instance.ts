import { z } from 'zod';
import { instanceKey } from './store/format.ts';
import type { Reader } from './store/store.ts';

/** The document's body. */
const instanceSchema = z.object({ name: z.string() });

/** Returns the id of the instance's default organisation; empty before `identity init`. */
export async function defaultOrganisation(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.orgId ?? '';
}

/** What an instance is called, and the organisation that it was created with. */
export interface InstanceDescription {
  /** `unnamed` before `identity init`. */
  readonly instance: string;
  /** Undefined before `identity init`. */
  readonly defaultOrgId: string | undefined;
}

/** Describes the instance of a database. */
export async function describeInstance(reader: Reader): Promise<InstanceDescription> {
  const [document] = await reader.getMany([instanceKey]);
  const { body, orgId } = document ?? {};
  const instance = body === undefined ? 'unnamed' : instanceSchema.parse(JSON.parse(body)).name;
  return { instance, defaultOrgId: orgId };
}
