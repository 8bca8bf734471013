import type { Distribution, Figures } from './figures.ts';
import type { Passes } from './passes.ts';

/** Renders the figures as an aligned table, followed by lists of the files and names behind them. */
export function renderReport(figures: Figures, passes: Passes): string {
  const rows = tableRows(figures, passes);
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join('');
  return `${table}${renderViolations(figures)}${renderFiles(figures)}`;
}

function renderViolations({ violations, unplaced, cycles }: Figures): string {
  const arrows = violations.map(({ path, target, reason }) => `${path} -> ${target}: ${reason}`);
  const closed = cycles.map((cycle) => [...cycle, ...cycle.slice(0, 1)].join(' -> '));
  return list('layer violations', arrows) + list('files without a layer', unplaced) + list('import cycles', closed);
}

function renderFiles({ smallFilesWithOneImporter, ofNames }: Figures): string {
  const small = smallFilesWithOneImporter.map(({ path, importer }) => `${path} <- ${importer}`);
  const byFile = Map.groupBy(ofNames, ({ path }) => path);
  const names = Array.from(byFile, ([path, found]) => `${path}: ${found.map(({ name }) => name).join(', ')}`);
  return list('files under 40 lines with one importer, in their folder', small) + list('names that end in Of', names);
}

function tableRows(figures: Figures, passes: Passes): readonly (readonly [name: string, value: string])[] {
  const exported = figures.ofNames.filter((declared) => declared.exported);
  return [
    ['files', String(figures.fileLines.count)],
    ['lines per file: median, p95, max', spread(figures.fileLines)],
    ['files under 40 lines', percent(figures.shareOfSmallFiles)],
    ['of these, with one importer, in their folder', String(figures.smallFilesWithOneImporter.length)],
    ['local imports per 100 lines of code', figures.importsPer100Lines.toFixed(1)],
    ['functions', String(figures.functionLines.count)],
    ['lines per function: median, p95, max', spread(figures.functionLines)],
    ['doc comments that open with What, Whether, Where or How', percent(figures.shareOfQuestions)],
    ['names that end in Of; exported', `${figures.ofNames.length}; ${exported.length}`],
    ['layer violations', String(figures.violations.length)],
    ['files without a layer', String(figures.unplaced.length)],
    ['import cycles', String(figures.cycles.length)],
    ['files that a removal passes', String(passes.removal.length)],
    ['files that an import of one user passes', String(passes.importOfOneUser.length)],
    ['files that an export to a bucket passes', String(passes.exportToBucket.length)],
  ];
}

function spread({ median, p95, max }: Distribution): string {
  return `${median}, ${p95}, ${max}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
