import { printable } from '../printable.ts';
import { countList, first, notices } from './planText.ts';
import type { MigrationResult } from './result.ts';

/** Returns a result as people read it. */
export function resultText(result: MigrationResult, directory: string): string {
  const { source, target, moved, proof, logins, phases } = result;
  const imported = Object.entries(moved.imported ?? {}).filter(([, counts]) => Object.keys(counts).length > 0);
  const lines = [
    `${moved.organisations} organisations with ${moved.records} records moved from ${source.place} to ${target.place}`,
    ...imported.map(([outcome, counts]) => `${outcome}: ${countList(counts)}`),
    ...lastPhases(phases).map(phaseLine),
    `proof: ${proof.description}`,
    ...verdict(result),
    ...first(proof.differences.flatMap(differenceLines), 'differences'),
    ...notices('error', result.errors, result.errorsOmitted),
    ...notices('warning', result.warnings, result.warningsOmitted),
    ...notices('left to do', result.leftToDo, result.leftToDoOmitted),
    loginLine(logins),
    `clean up: identity migrate cleanup --run-dir ${directory}`,
  ];
  return lines.map(printable).join('\n');
}

/** Returns the last attempt of each phase. */
function lastPhases(phases: MigrationResult['phases']): MigrationResult['phases'] {
  return [...new Map(phases.map((phase) => [phase.phase, phase])).values()];
}

function phaseLine({ phase, records, seconds, perSecond }: MigrationResult['phases'][number]): string {
  return `${phase}: ${records} records in ${seconds.toFixed(1)} s, ${Math.round(perSecond)}/s`;
}

function verdict({ proof, source, target }: MigrationResult): string[] {
  const { method, expected, unexpected, sections, sourceUnchanged } = proof;
  if (method === 'checksum') return [];
  const equal = Object.values(sections).reduce((sum, counts) => sum + counts.equal, 0);
  const isSame = source.digest !== undefined && source.digest === target.digest;
  const changed = 'the source has changed since it was exported: migrate again to move the changes';
  return [
    `${equal} records equal, ${expected} differ as expected, ${unexpected} differ`,
    ...(isSame ? [`both sides have the digest ${source.digest}`] : []),
    ...(sourceUnchanged === false ? [changed] : []),
  ];
}

function differenceLines(difference: MigrationResult['proof']['differences'][number]): string[] {
  const { outcome, section, orgId, id, fields, reason } = difference;
  const record = `${section} ${id} of ${orgId}`;
  const why = reason === undefined ? '' : ` (${reason})`;
  if (outcome !== 'different')
    return [`${record}: only in the ${outcome === 'onlySource' ? 'source' : 'target'}${why}`];
  return fields.map(({ path, source = '(absent)', target = '(absent)', secret }) => {
    const values = secret === undefined ? `${source} | ${target}` : `a secret, ${secret}`;
    return `${record}: ${path}: ${values}${why}`;
  });
}

function loginLine({ people, withPassword, ready }: MigrationResult['logins']): string {
  return `logins: ${ready} of ${withPassword} people with a password log in with the same one; ${people - withPassword} of ${people} have none in the export`;
}
