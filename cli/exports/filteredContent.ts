import type { Counts } from '../../shared/collections/counts.ts';
import type { SecretSelection } from '../../shared/exportFile/secretSelection.ts';
import type { ProgressOutput } from '../progress.ts';
import { repeatable, undisposed } from './content.ts';
import { type ExportFilter, filterExport, filteredManifest, readManifest, withManifest } from './exportFilter.ts';
import { inspectPlace } from './inspectPlace.ts';
import type { ExportContent, ExportOptions, FilePlace } from './place.ts';
import type { ExportedRequest } from './recordCounter.ts';
import { LeftOutSecrets } from './secretFilter.ts';

interface Filtering {
  readonly filter: ExportFilter & { readonly secrets: SecretSelection };
  readonly options: ExportOptions;
  readonly output: ProgressOutput;
  readonly signal: AbortSignal;
}

/**
 * Returns what a filter keeps of a file, with the manifest of that if the file has one. It is filtered while it is read.
 * @param content the place's content, which can be read repeatedly and which the caller disposes of
 * @throws IdentityError when it is no valid export file
 */
export async function filteredContent(
  place: FilePlace,
  content: ExportContent,
  { filter, options, output, signal }: Filtering,
): Promise<ExportContent> {
  const open = (reading: AbortSignal) => filterExport(() => content.open(reading), filter);
  const filtered = { open, isRepeatable: false, ...undisposed };
  const manifest = await readManifest(() => content.open(signal));
  if (manifest === undefined) return filtered;
  const name = `${place.name} without what is left out`;
  const { tally } = await inspectPlace(
    placeOf({ ...place, name }, filtered),
    options,
    undefined,
    output,
    signal,
    'checking',
  );
  const own = filteredManifest(manifest, tally, filter.secrets);
  return { ...filtered, open: (reading) => withManifest(open(reading), own) };
}

interface SelectedContent {
  readonly content: ExportContent;
  /** What the file's manifest says of the request for it. */
  readonly request: ExportedRequest;
  /** The numbers of secrets that are left out. */
  readonly leftOut: Counts;
}

/**
 * Opens a file without the secrets and organisations that are not selected: verified, and with the manifest of what is left.
 * @throws IdentityError when it is no valid export file, or does not match its manifest
 */
export async function openSelected(place: FilePlace, filtering: Filtering): Promise<SelectedContent> {
  const { filter, options, output, signal } = filtering;
  await using resources = new AsyncDisposableStack();
  const content = resources.use(await place.readExport(options, signal));
  const file = content.isRepeatable ? content : resources.use(await repeatable(content, signal));
  const secrets = new LeftOutSecrets(filter.secrets);
  const label = `checking ${place.name}`;
  const { request } = await inspectPlace(placeOf(place, file), options, secrets, output, signal, label);
  const filtered = await filteredContent(place, file, filtering);
  const held = resources.move();
  const selected = { ...filtered, [Symbol.asyncDispose]: () => held.disposeAsync() };
  return { content: selected, request, leftOut: secrets.counts };
}

/** Returns a place that reads content, which its owner disposes of. */
function placeOf(place: FilePlace, content: ExportContent): FilePlace {
  return { ...place, readExport: async () => ({ ...content, ...undisposed }) };
}
