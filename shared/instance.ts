import { z } from 'zod';
import type { DocumentKey, Reader } from './store/store.ts';

/** Where an instance says what it is called; written once, by `identity init`. */
export const instanceKey: DocumentKey = { collection: 'instance', id: 'instance' };

/** What is stored of an instance. */
const instanceSchema = z.object({ name: z.string() });

/** The instance's default organisation; empty before `identity init`. */
export async function defaultOrganisation(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.orgId ?? '';
}

/** The instance's name, or `unnamed` before `identity init`. */
export async function instanceName(reader: Reader): Promise<string> {
  const [document] = await reader.getMany([instanceKey]);
  return document?.body === undefined ? 'unnamed' : instanceSchema.parse(JSON.parse(document.body)).name;
}
