import type { LeftToDoEntry } from '../../shared/organisation/leftToDo.ts';
import { argument, type Output, type RunAlone } from '../command.ts';
import { exportOptions, progressOutput } from '../places/callOptions.ts';
import { FileFacts, inspectPlace, type PlaceInspection } from '../places/inspectPlace.ts';
import { openOnlyPlace } from '../places/openPlaces.ts';
import { requestLines } from '../places/recordCounter.ts';
import { printable } from '../printable.ts';

/** Runs `identity inspect`. */
export const inspect: RunAlone = async (call) => {
  const place = await openOnlyPlace(call, argument(call, 0));
  const facts = new FileFacts();
  const inspection = await inspectPlace(place, exportOptions(call), facts, progressOutput(call), call.signal);
  return inspected(place.name, inspection, facts);
};

function inspected(
  name: string,
  { bytes, organisations, unknown, manifest, request, losses }: PlaceInspection,
  facts: FileFacts,
): Output {
  const { sections, hashFormats, secrets, leftToDo, leftToDoInZitadel } = facts;
  const json = {
    event: 'result',
    bytes,
    organisations: organisations.length,
    sections: Object.fromEntries(sections),
    secrets: Object.fromEntries(secrets),
    hashFormats: Object.fromEntries(hashFormats),
    unknown,
    manifest: manifest === undefined ? null : { ...manifest, ...request },
    leftToDo,
    leftToDoInZitadel,
    ...(losses.length === 0 ? {} : { losses }),
  };
  const origin =
    manifest === undefined
      ? 'no manifest: nothing shows whether it is complete and as it was exported'
      : `manifest version ${manifest.version}: exported by ${manifest.instance} at ${manifest.readTime}, complete and unchanged`;
  const lines = [
    `${name}: ${organisations.length} organisations, ${bytes} bytes`,
    origin,
    ...requestLines(request),
    ...[...sections].map(([section, size]) => `${section}: ${size.records} records, ${size.bytes} bytes`),
    `secrets: ${list(secrets)}`,
    `password hashes: ${list(hashFormats)}`,
    ...Object.entries(unknown).map(([field, count]) => `unknown, and not imported: ${field} (${count})`),
    ...losses.map((loss) => `in no export of a ZITADEL: ${loss}`),
    ...leftToDo.map((entry) => `left to do: ${entryText(entry)}`),
    ...onlyIn(leftToDoInZitadel, leftToDo).map((entry) => `left to do in a ZITADEL: ${entryText(entry)}`),
  ];
  return { json, text: lines.map(printable).join('\n') };
}

function list(counts: ReadonlyMap<string, number>): string {
  return counts.size === 0 ? 'none' : [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

function onlyIn(entries: readonly LeftToDoEntry[], others: readonly LeftToDoEntry[]): readonly LeftToDoEntry[] {
  const known = new Set(others.map((entry) => JSON.stringify(entry)));
  return entries.filter((entry) => !known.has(JSON.stringify(entry)));
}

function entryText({ type, id, message }: LeftToDoEntry): string {
  return id === undefined ? message : `${type} ${id}: ${message}`;
}
