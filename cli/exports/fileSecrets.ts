// Requires that a call selects the secrets of a file.

import { type SecretSelection, selectedKinds } from '../records/secretSelection.ts';
import { usageError } from '../terminal/command.ts';
import type { CallContext } from '../terminal/progress.ts';
import { makeRepeatable, undisposed } from './fileContent.ts';
import { FileSecrets } from './fileFacts.ts';
import { inspectPlace } from './inspectPlace.ts';
import type { ExportFile, FilePlace, PlaceExportOptions } from './placeInterfaces.ts';
import type { ExportedRequest } from './recordCounter.ts';

/**
 * Requires that a call selects all kinds of secrets that an import of a file changes, because an import always uses the
 * whole file.
 * @param name the file's name in messages
 * @param request the request of the file's export, from its manifest
 * @throws IdentityError USAGE_INVALID if the call does not select a kind of secrets
 */
export function requireSelected(
  name: string,
  secrets: FileSecrets,
  request: ExportedRequest,
  selected: SecretSelection,
): void {
  const given = selectedKinds(selected);
  const others = selectedKinds(secrets.selection(request)).filter((kind) => !given.includes(kind));
  if (others.length === 0) return;
  const contained = selectedKinds(secrets.selection({}));
  const verb = others.every((kind) => contained.includes(kind)) ? 'contains' : 'was exported with';
  throw usageError(
    `${name} ${verb} ${others.join(', ')}, and an import of a file always includes all its secrets: add them to --with, or export again with other secrets; nothing is changed`,
  );
}

/**
 * Checks that a file is intact and that a call selects the file's secrets, and opens the file.
 * @throws IdentityError USAGE_INVALID if the call does not select all secrets of the file; other errors for an invalid
 * file, or if the manifest does not match the file
 */
export async function openWithSecrets(
  place: FilePlace,
  options: PlaceExportOptions,
  context: CallContext,
): Promise<ExportFile> {
  await using resources = new AsyncDisposableStack();
  const { signal } = context;
  const content = resources.use(await place.readExport(options, signal));
  const file = content.isRepeatable ? content : resources.use(await makeRepeatable(content, signal));
  const secrets = new FileSecrets();
  const opened: FilePlace = { ...place, readExport: async () => ({ ...file, ...undisposed }) };
  const reading = { visitor: secrets, label: `checking ${place.name}` };
  const { request } = await inspectPlace(opened, options, context, reading);
  requireSelected(place.name, secrets, request, options);
  const held = resources.move();
  return { ...file, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
