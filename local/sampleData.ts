import { readFile } from 'node:fs/promises';
import { importOrganisations } from '../functions/import/operation.ts';
import type { Store } from '../shared/store/store.ts';

/** The id of the person in the sample data who has the OTP e-mail factor. */
export const samplePerson = '330000000000000201';

const file = new URL('sample/organisations.json', import.meta.url);

/**
 * Seeds an instance with two organisations that a real ZITADEL exported; one person got the OTP e-mail factor afterwards.
 * Existing records stay, so that an interrupted run can be repeated.
 */
export async function fillWithSample(store: Store): Promise<void> {
  const content = await readFile(file);
  const source = { open: () => asIterable(content) };
  const options = { withKeys: true };
  await importOrganisations(store, source, options, new Date().toISOString(), new AbortController().signal);
}

async function* asIterable(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
