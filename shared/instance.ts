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

/** Returns the instance's name, or `unnamed` before `identity init`. */
export async function instanceName(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.body === undefined ? 'unnamed' : instanceSchema.parse(JSON.parse(document.body)).name;
}
