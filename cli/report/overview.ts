import type { MigrationResult, MigrationSide } from '../migrate/documents.ts';
import { span } from '../progress.ts';
import { counted, definitions, type Html, html, moment } from './texts.ts';

/** The names of places' kinds, as people read them. */
const kinds: Readonly<Record<string, string>> = {
  instance: 'an instance of this service',
  zitadel: 'a ZITADEL instance',
  database: 'a database, without a server',
  file: 'a file',
  object: 'an object in a bucket',
  stream: 'standard input or output',
};

/** Shows what happened in a sentence, when, and between which sides. */
export function overview(result: MigrationResult): Html {
  const { command, startedAt, finishedAt, source, target, resumedAt, options, leftOut } = result;
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
  const { orgIds, excludedOrgIds, secrets, onConflict, newOrgsOnly } = options;
  return html`<header><h1>Migration of ${counted(result.moved.organisations, 'organisation')}</h1>
<p class="verdict ${result.outcome}">${verdict(result)}</p>
<p class="soft">${moment(startedAt)} to ${moment(finishedAt)}, ${span(seconds)}; identity ${command}</p></header>
<section><h2>From and to</h2><div class="sides">${side('From', source)}${side('To', target)}</div>
${definitions({
  Organisations: orgIds.length === 0 ? 'all' : `${orgIds.length} selected`,
  'Left out': excludedOrgIds.length + leftOut.length === 0 ? undefined : excludedOrgIds.length + leftOut.length,
  Secrets: secrets.length === 0 ? 'none' : secrets.join(', '),
  Conflicts: onConflict,
  'New only': newOrgsOnly ? 'yes' : undefined,
  Resumed:
    resumedAt.length === 0
      ? undefined
      : `${counted(resumedAt.length, 'time')}, last at ${moment(resumedAt.at(-1) ?? '')}`,
})}</section>`;
}

function verdict({ outcome, errors, errorsOmitted, proof, moved }: MigrationResult): string {
  const equal = Object.values(proof.sections).reduce((sum, counts) => sum + counts.equal, 0);
  if (outcome === 'done' && proof.method === 'checksum')
    return `Done: all ${moved.records.toLocaleString('en')} records are stored, as the checksum proves.`;
  const expected = proof.expected === 0 ? '' : `, ${proof.expected.toLocaleString('en')} differ as expected`;
  if (outcome === 'done') return `Done: ${equal.toLocaleString('en')} records are equal on both sides${expected}.`;
  const problems = [
    ...(proof.unexpected === 0 ? [] : [counted(proof.unexpected, 'difference')]),
    ...(errors.length + errorsOmitted === 0 ? [] : [counted(errors.length + errorsOmitted, 'error')]),
  ];
  return `Finished, with ${problems.join(' and ')}; ${equal.toLocaleString('en')} records are equal${expected}.`;
}

function side(
  title: string,
  { place, kind, version, instance, digest, readAt, bytes, ...object }: MigrationSide,
): Html {
  const { generation, crc32c } = object;
  return html`<div class="side"><h3>${title} ${place}</h3>${definitions({
    Kind: kinds[kind] ?? kind,
    Version: version,
    Instance: instance,
    Digest: digest === undefined ? undefined : html`<code>${digest}</code>`,
    Read: readAt === undefined ? undefined : moment(readAt),
    Bytes: bytes,
    Generation: generation,
    CRC32C: crc32c,
  })}</div>`;
}
