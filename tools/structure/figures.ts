import { type DocComment, opensAsQuestion } from './docComments.ts';
import { filesWithOneImporter, type ImportedOnce, importCycles } from './imports.ts';
import { layerViolations, unplacedFiles, type Violation } from './layers.ts';
import type { Declared, Source } from './sources.ts';

/** Files of fewer lines are small. */
const SMALL_FILE_LINES = 40;

/** The number of values, their median, 95th percentile and maximum. */
export interface Distribution {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

/** A finding with the file that holds it. */
type In<Found> = Found & { readonly path: string };

/** The product's structure in figures; shares are of 1. */
export interface Figures {
  readonly fileLines: Distribution;
  readonly shareOfSmallFiles: number;
  readonly importsPer100Lines: number;
  readonly functionLines: Distribution;
  readonly smallFilesWithOneImporter: readonly ImportedOnce[];
  readonly shareOfQuestions: number;
  /** The doc comments that open with a question word. */
  readonly questions: readonly In<DocComment>[];
  readonly ofNames: readonly In<Declared>[];
  readonly violations: readonly Violation[];
  /** The files that the table of layers does not cover. */
  readonly unplaced: readonly string[];
  readonly cycles: readonly (readonly string[])[];
}

/** Computes the figures of the product's files. */
export function structureFigures(sources: readonly Source[]): Figures {
  const imports = sources.flatMap((source) => source.imports.filter(({ isStatement }) => isStatement));
  const docComments = sources.flatMap((source) => inFile(source, source.docComments));
  const small = sources.filter(({ lines }) => lines < SMALL_FILE_LINES);
  const smallPaths = new Set(small.map(({ path }) => path));
  const questions = docComments.filter(opensAsQuestion);
  return {
    fileLines: distribution(sources.map(({ lines }) => lines)),
    shareOfSmallFiles: small.length / sources.length,
    importsPer100Lines: (100 * imports.length) / sum(sources.map(({ codeLines }) => codeLines)),
    functionLines: distribution(sources.flatMap(({ functionLines }) => functionLines)),
    smallFilesWithOneImporter: filesWithOneImporter(sources).filter(({ path }) => smallPaths.has(path)),
    shareOfQuestions: questions.length / docComments.length,
    questions,
    ofNames: sources
      .flatMap((source) => inFile(source, source.declared))
      .filter(({ name }) => /[a-z0-9]Of$/.test(name)),
    violations: layerViolations(sources),
    unplaced: unplacedFiles(sources),
    cycles: importCycles(sources),
  };
}

/** Computes a distribution by nearest rank. */
export function distribution(values: readonly number[]): Distribution {
  const inOrder = values.toSorted((a, b) => a - b);
  const rank = (share: number) => inOrder[Math.ceil(share * inOrder.length) - 1] ?? 0;
  return { count: values.length, median: rank(0.5), p95: rank(0.95), max: rank(1) };
}

function inFile<Found>({ path }: Source, found: readonly Found[]): readonly In<Found>[] {
  return found.map((each) => ({ path, ...each }));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
