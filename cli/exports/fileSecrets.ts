// Secrets of a file that a call must select.

import { type SecretSelection, selectedKinds } from '../../shared/exportFile/secretSelection.ts';
import { UsageError } from '../command.ts';
import type { ProgressOutput } from '../progress.ts';
import { makeRepeatable, undisposed } from './fileContent.ts';
import { FileSecrets } from './fileFacts.ts';
import { inspectPlace } from './inspectPlace.ts';
import type { ExportFile, FilePlace, PlaceExportOptions } from './placeInterfaces.ts';

/**
 * Requires that a call selects every kind of secrets in a file, because a file is imported as it is.
 * @param name the file's name in messages
 * @throws UsageError
 */
export function requireSelected(name: string, contained: SecretSelection, selected: SecretSelection): void {
  const given = selectedKinds(selected);
  const others = selectedKinds(contained).filter((kind) => !given.includes(kind));
  if (others.length === 0) return;
  throw new UsageError(
    `${name} contains ${others.join(', ')}, and a file is imported as it is: add them to --with, or export it again with the wanted secrets; nothing is changed`,
  );
}

/**
 * Opens a file after checking that it is intact, and that a call selects its secrets.
 * @throws UsageError; IdentityError for a file that is no valid export file, or does not match its manifest
 */
export async function openWithSecrets(
  place: FilePlace,
  options: PlaceExportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<ExportFile> {
  await using resources = new AsyncDisposableStack();
  const content = resources.use(await place.readExport(options, signal));
  const file = content.isRepeatable ? content : resources.use(await makeRepeatable(content, signal));
  const secrets = new FileSecrets();
  const opened: FilePlace = { ...place, readExport: async () => ({ ...file, ...undisposed }) };
  await inspectPlace(opened, options, secrets, output, signal, `checking ${place.name}`);
  requireSelected(place.name, secrets.selection, options);
  const held = resources.move();
  return { ...file, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
