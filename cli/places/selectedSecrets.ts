import type { Counts } from '../../shared/collections/counts.ts';
import type { ProgressOutput } from '../progress.ts';
import { repeatable } from './content.ts';
import { filterExport, filteredManifest, readManifest, withManifest } from './exportFilter.ts';
import { inspectPlace } from './inspectPlace.ts';
import type { ExportContent, ExportOptions, FilePlace } from './place.ts';
import type { ExportedRequest } from './recordCounter.ts';
import { LeftOutSecrets } from './secretFilter.ts';

/** A file's content without the secrets that a call does not select. */
interface SelectedContent {
  readonly content: ExportContent;
  /** What the file's manifest says of the request for it. */
  readonly request: ExportedRequest;
  /** The numbers of secrets that are left out. */
  readonly leftOut: Counts;
}

/**
 * Opens a file without the secrets that are not selected: verified, and copied with the manifest of what is left.
 * @throws IdentityError when it is no valid export file, or does not match its manifest
 */
export async function openSelected(
  place: FilePlace,
  options: ExportOptions,
  output: ProgressOutput,
  signal: AbortSignal,
): Promise<SelectedContent> {
  await using resources = new AsyncDisposableStack();
  const content = resources.use(await place.readExport(options, signal));
  const file = content.isRepeatable ? content : resources.use(await repeatable(content, signal));
  const secrets = new LeftOutSecrets(options);
  const { request } = await inspectPlace(placeOf(place, file), options, secrets, output, signal);
  const read = () => file.open(signal);
  const filtered = { open: () => filterExport(read, { secrets: options }), isRepeatable: false, ...undisposed };
  const copy = resources.use(await repeatable(filtered, signal));
  const manifest = await readManifest(read);
  const name = `${place.name} without what is left out`;
  const { tally } = await inspectPlace(placeOf({ ...place, name }, copy), options, undefined, output, signal);
  const own = manifest === undefined ? undefined : filteredManifest(manifest, tally, options);
  const open = (again: AbortSignal) => (own === undefined ? copy.open(again) : withManifest(copy.open(again), own));
  const held = resources.move();
  const selected = { isRepeatable: true, open, [Symbol.asyncDispose]: () => held.disposeAsync() };
  return { content: selected, request, leftOut: secrets.counts };
}

const undisposed = { [Symbol.asyncDispose]: async () => {} };

/** Returns a place that reads content, which its owner disposes of. */
function placeOf(place: FilePlace, content: ExportContent): FilePlace {
  return { ...place, readExport: async () => ({ ...content, ...undisposed }) };
}
