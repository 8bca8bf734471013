import { type SecretSelection, selectedKinds } from '../records/secretSelection.ts';
import { usageError } from '../terminal/command.ts';
import type { CallContext } from '../terminal/progress.ts';
import { makeRepeatable, undisposed } from './fileContent.ts';
import { FileSecrets } from './fileFacts.ts';
import { inspectPlace } from './inspectPlace.ts';
import type { ExportFile, FilePlace, PlaceExportOptions } from './placeInterfaces.ts';
import type { ExportedRequest } from './recordCounter.ts';

/**
 * Requires that a call selects all kinds of secrets that an import of the file can change. An import always uses the
 * whole file, so it cannot leave out a kind.
 * @param request the secrets that the export of the file included, according to the file's manifest
 * @throws IdentityError USAGE_INVALID if the call leaves out a kind that the import can change
 */
export function requireSelected(
  name: string,
  secrets: FileSecrets,
  request: ExportedRequest,
  selected: SecretSelection,
): void {
  const requestedKinds = selectedKinds(selected);
  const others = selectedKinds(secrets.selection(request)).filter((kind) => !requestedKinds.includes(kind));
  if (others.length === 0) return;
  const contained = selectedKinds(secrets.selection({}));
  const verb = others.every((kind) => contained.includes(kind)) ? 'contains' : 'was exported with';
  throw usageError(
    `${name} ${verb} ${others.join(', ')}, and an import includes all secrets of the file: add ${others.join(',')} to --with, or export the source again without these secrets; nothing is changed`,
  );
}

/**
 * Opens an export file after a check that it is valid and complete, and that the call selects all its secrets.
 * @throws IdentityError USAGE_INVALID if the call does not select all secrets of the file. Throws other errors if the
 * file is invalid or does not match its manifest
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
